"""Train: labelled questions or a corpus in; networks, trees and adapters out."""
