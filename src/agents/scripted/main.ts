import { runScript } from './play.ts';

/** `node PROGRAM [options] SCRIPT`: an agent that does what a script says. */
void runScript(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
