// `npm start`: the quick start on the embedded store. Further arguments go to `svc run`.
// A first look should show how to use the service, not its log; SVC_LOGGING_LEVEL=INFO shows that too.
process.env.SVC_LOGGING_LEVEL ??= 'WARN';
process.argv.splice(2, 0, 'run', '--quickstart');
await import('../dist/svc.js');
