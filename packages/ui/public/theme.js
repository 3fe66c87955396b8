// Runs before the first paint; the same key and attribute as the theme switch of the application.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem('svc:ui:theme');
  } catch {
    // Storage may be closed to us; the system's choice is used then.
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
