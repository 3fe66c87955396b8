// Runs before the first paint, while the scripts of the page are still on their way.
(function () {
  // The same key and attribute as the theme switch of the application.
  var chosen = null;
  try {
    chosen = localStorage.getItem('svc:ui:theme');
  } catch {
    // Storage may be closed to us; the system's choice is used then.
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');

  // Asks for what the address names, until the page itself is there: `lib/early-answers.ts` takes the answers over.
  var page = /^\/repositories\/([^/]+)(\/objects)?/.exec(location.pathname);
  if (page === null) return;
  var headers = { 'X-Lakefs-Client': document.currentScript.dataset.client };
  var answers = (globalThis.svcEarlyAnswers = new Map());
  function ask(path, query, goOn) {
    if (globalThis.svcEarlyAnswers !== answers) return;
    var url = '/api/v1' + path + (query === undefined ? '' : '?' + new URLSearchParams(query));
    var answer = fetch(url, { headers: headers });
    answers.set(url, answer);
    // Where something is wrong, the page asks again and says so.
    answer
      .then(function (response) {
        return goOn === undefined || !response.ok ? undefined : response.clone().json().then(goOn);
      })
      .catch(function () {});
  }

  var repository = '/repositories/' + encodeURIComponent(decodeURIComponent(page[1]));
  var search = new URLSearchParams(location.search);
  var prefix = search.get('path') || '';
  ask('/user');
  ask(repository, { summary: true }, function (found) {
    var branch = found.default_branch;
    var ref = search.get('ref') || branch;
    var plain =
      page[2] !== undefined && !search.has('q') && !search.has('after') && !search.has('showChanges');
    if (!plain || ref.includes('@')) return;
    var at = repository + '/refs/' + encodeURIComponent(ref);
    ask(at + '/objects/ls', { prefix: prefix, delimiter: '/', after: '', amount: 200, user_metadata: false });
    if (ref === branch) ask(repository + '/branches/' + encodeURIComponent(ref) + '/diff', { amount: 1000 });
    ask(
      at + '/resolve',
      prefix === '' ? { rights: true } : { rights: true, path: prefix },
      function (resolved) {
        var commit = repository + '/refs/' + resolved.commit_id;
        ask(commit + '/last_commits', { prefix: prefix, after: '', amount: 200 });
      },
    );
  });
})();
