# Messages of the app
-brand-name = Widget

welcome = WELCOME TO { -brand-name }
    .title = START HERE
about =
    WIDGET DRAWS CHARTS
    IN THE BROWSER.
files = { $count ->
    [1] ONE FILE
    [one] { $count } FILES
   *[other] { $count } FILES
}
