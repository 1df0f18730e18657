// Stores our style where Browser keeps its own: once for each version, and after `:style reset`, so
// that a user's changes stay. Served with the style and its version in the places of their names.
(function (style, version) {
  try {
    var kept = localStorage.getItem("neo4j.grass");
    if (kept === null || kept === "null" || localStorage.getItem("kgp.style") !== version) {
      localStorage.setItem("neo4j.grass", style);
      localStorage.setItem("kgp.style", version);
    }
  } catch (error) {
    // Without local storage Browser has its default style.
  }
})(STYLE, VERSION);
