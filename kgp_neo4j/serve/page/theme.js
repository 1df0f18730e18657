"use strict";
// Before anything is drawn, so that no page flashes in the other colours.
const chosen = localStorage.getItem("kgp-theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
