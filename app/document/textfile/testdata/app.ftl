# Messages of the app
-brand-name = Widget

welcome = Welcome to { -brand-name }
    .title = Start here
about =
    Widget draws charts
    in the browser.
files = { $count ->
    [one] One file
   *[other] { $count } files
}
