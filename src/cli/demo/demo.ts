import { tmpdir } from 'node:os';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { type CliCommand, EXIT, type Io, type ListedCommand } from '../command.ts';
import { makePassableFolder } from '../passable-folder.ts';
import { describeFileError, reportProblem } from '../problems.ts';
import { type DemoPlace, demoPlaceIn, fillDemoPlace, hasGit, LAUNCHER, removeDemoPlace } from './demo-place.ts';
import { type DemoOptions, DemoSession } from './demo-session.ts';
import { reachesLoopback } from './reaches-loopback.ts';
import { walk } from './walk.ts';

/**
 * Plays the whole workflow on a small real repository, with scripted agents in place of models. Needs git, but neither
 * an account nor a network.
 */
export function createDemoCommand(commands: readonly ListedCommand[]): CliCommand {
  return {
    examples: ['baton demo', 'baton demo --slow --page', 'baton demo --keep'],
    args: [],
    options: [
      { name: 'keep', about: 'Keep the repository and the record, and print where they are' },
      { name: 'slow', about: 'Slow the agents down, and pause before each output' },
      { name: 'page', about: 'Open the page first, and leave it up at the end until Ctrl-C' },
    ],
    exitCodes: { 0: 'merged and verified', 1: 'failed', 130: 'interrupted; everything it started has ended' },
    run: async ({ options }, io) => {
      if (!hasGit(io.env)) return reportProblem(NO_GIT, io);
      if (!(await reachesLoopback())) return reportProblem(NO_LOOPBACK, io);
      const chosen = { keep: options.has('keep'), slow: options.has('slow'), page: options.has('page') };
      return runDemo(chosen, commands, io);
    },
  };
}

const NO_GIT = {
  code: 'git/cannot-run',
  message: 'the demo needs git, which is not on the PATH',
  hint: 'Install git, then: baton demo',
} as const;

const NO_LOOPBACK = {
  code: 'demo/no-loopback',
  message: 'the demo needs the address 127.0.0.1, and cannot connect to it',
  hint: 'Start the loopback interface: ip link set lo up',
} as const;

async function runDemo(options: DemoOptions, commands: readonly ListedCommand[], io: Io): Promise<number> {
  const folder = makeDemoFolder();
  if (typeof folder !== 'string') return reportProblem(folder, io);
  const place = demoPlaceIn(folder, io.env);
  try {
    await play(place, options, commands, io);
    if (!options.keep) removeDemoPlace(place);
    return EXIT.ok;
  } catch (error) {
    const message = `the demo failed: ${error instanceof Error ? error.message : String(error)}`;
    return reportProblem({ code: 'demo/failed', message, hint: `The files of the demo are kept: ${folder}` }, io);
  }
}

/** When this returns, no process of the demo runs. */
async function play(place: DemoPlace, options: DemoOptions, commands: readonly ListedCommand[], io: Io): Promise<void> {
  const began = performance.now();
  await using demo = new DemoSession(place, io, options, commands);
  await fillDemoPlace(place, options.slow);
  await demo.unlessLeaving();
  const purpose = options.keep ? 'A sample repository, and all other files of the demo' : TEMPORARY;
  io.out(`${purpose}: ${place.folder}\n`);
  demo.begin();
  await walk(demo);
  demo.finish();
  io.out(`\nFrom a request to a merge in ${Math.round((performance.now() - began) / 1000)} s. `);
  if (options.page) {
    io.out('The page stays up until you press Ctrl-C.\n');
    await demo.look();
  }
  io.out(options.keep ? describeKept(place) : 'The daemon ends here, and the folder is removed.\n');
}

function makeDemoFolder(): string | Pick<Problem, 'code' | 'message' | 'hint'> {
  try {
    return makePassableFolder('baton-demo-');
  } catch (error) {
    const message = `cannot make a folder in ${tmpdir()}: ${describeFileError(error)}`;
    return { code: 'demo/no-folder', message, hint: 'Name another folder: TMPDIR=FOLDER baton demo' };
  }
}

const TEMPORARY = 'A sample repository in a temporary folder (--keep keeps it)';

function describeKept({ folder, stateDir, repository }: DemoPlace): string {
  return (
    `The daemon ends here, and the page with it. To bring both back and look around, until you delete ${folder}:\n` +
    `  export BATON_STATE_DIR=${shellWord(stateDir)}\n  cd ${shellWord(repository)}\n  node ${shellWord(LAUNCHER)} web\n`
  );
}
