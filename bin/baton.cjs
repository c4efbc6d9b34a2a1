#!/usr/bin/env node
'use strict';
// Written in old JavaScript on purpose: this file must load on any Node, so that an old Node prints a sentence instead
// of a syntax error. All other code is loaded after the check.
var found = process.versions.node.split('.').map(Number);
if (found[0] < 24 || (found[0] === 24 && found[1] < 11)) runOnNewerNode();
else runHere();

/** Runs the command with the clone's own Node, from any folder, if this Node is too old. */
function runOnNewerNode() {
  var fs = require('node:fs');
  var own = __dirname + '/../node_modules/.bin/node';
  if (fs.existsSync(own) && fs.realpathSync(own) !== fs.realpathSync(process.execPath)) {
    var args = [__filename].concat(process.argv.slice(2));
    // The handlers are installed first, because a signal may arrive while the child starts. Ctrl-C reaches both
    // processes by itself.
    var child;
    process.on('SIGINT', function () {});
    process.on('SIGTERM', function () {
      if (child) child.kill('SIGTERM');
      else process.exit(143);
    });
    child = require('node:child_process').spawn(own, args, { stdio: 'inherit' });
    // Exits with the exit code of a shell, so that scripts can distinguish an interrupted run from a failed one.
    child.on('exit', function (code, signal) {
      process.exit(code === null ? 128 + (require('node:os').constants.signals[signal] || 0) : code);
    });
    return;
  }
  var isClone = fs.existsSync(__dirname + '/../src/cli/main.ts');
  process.stderr.write(
    'Error: Baton needs Node 24.11 or newer, and this is Node ' +
      process.versions.node +
      (isClone ? '. Get one for this clone: npm ci\n' : '. Get one: https://nodejs.org/en/download\n'),
  );
  process.exitCode = 2;
}

function runHere() {
  // Scripts and shell prompts request the version often, and loading the command takes as long as starting Node.
  if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
    require('node:fs').writeSync(1, require('../package.json').version + '\n');
    return;
  }
  // A clone runs its working tree; a released package contains only the bundles.
  var inClone = require('node:fs').existsSync(__dirname + '/../src/cli/main.ts');
  // Clients wait for the stop hook at every stop, so it is a separate program, and no other code is loaded for it.
  var isHook = process.argv.length === 6 && process.argv.slice(2, 5).join(' ') === 'agent hook stop';
  // The program that clients run at the hooks of `baton hooks install`.
  var isOwnHook = process.argv.slice(2, 4).join(' ') === 'hooks run' && process.argv.indexOf('--help') < 0;
  if (isHook && process.argv[5].charAt(0) !== '-') {
    void (inClone ? import('../src/supervisor/stop-hook/main.ts') : require('../dist/hook-stop.cjs'));
  } else if (isOwnHook) {
    void (inClone ? import('../src/hooks/session/main.ts') : Promise.resolve(require('../dist/hook-own.cjs'))).then(
      function (hook) {
        return hook.runSessionHook(process.argv.slice(4), process.env, process.cwd());
      },
    );
  } else {
    hideSqliteWarning();
    // The demo leaves nothing behind, and Node keeps this cache in the temporary folder.
    if (process.argv[2] !== 'demo') require('node:module').enableCompileCache();
    void (inClone ? import('../src/cli/main.ts') : Promise.resolve(require('../dist/baton.cjs')))
      .then(function (cli) {
        return cli.main(process.argv.slice(2));
      })
      .then(function (code) {
        process.exitCode = code;
      });
  }
}

/** Node 24 warns that its SQLite is experimental, which is nothing that a user can act on. */
function hideSqliteWarning() {
  var emitWarning = process.emitWarning.bind(process);
  process.emitWarning = function (warning, type) {
    if (type === 'ExperimentalWarning' && String(warning).startsWith('SQLite')) return;
    emitWarning.apply(null, arguments);
  };
}
