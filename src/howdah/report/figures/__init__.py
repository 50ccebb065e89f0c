"""Pictures of figures, as Vega draws them."""
