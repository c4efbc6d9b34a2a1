import { runScript } from './play.ts';

/** `node PROGRAM [options] SCRIPT`: an agent that follows a script. */
void runScript(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
