"""Tables 2 to 5 of Shen and Danyluk, *Prototype support vector machines*."""
