#!/usr/bin/env node
'use strict';
// Written in old JavaScript on purpose: this file must load on any Node, so that an old one gets a sentence instead of
// a syntax error. Everything else is loaded after the check.
var found = process.versions.node.split('.').map(Number);
if (found[0] < 24 || (found[0] === 24 && found[1] < 11)) {
  process.stderr.write(
    'Error: Baton needs Node 24.11 or newer, and this is Node ' +
      process.versions.node +
      '.\nInstall a current Node, or, in a clone of Baton, run `npm ci` and then `npx baton`, which brings its own.\n',
  );
  process.exit(1);
}
require('node:module').enableCompileCache();
// In a clone the working tree runs as it stands; a released package holds only the bundle.
var source = require('node:path').join(__dirname, '..', 'src', 'cli', 'main.ts');
var inClone = require('node:fs').existsSync(source);
var loaded = inClone ? import('../src/cli/main.ts') : Promise.resolve(require('../dist/baton.cjs'));
void loaded
  .then(function (cli) {
    return cli.main(process.argv.slice(2));
  })
  .then(function (code) {
    process.exitCode = code;
  });
