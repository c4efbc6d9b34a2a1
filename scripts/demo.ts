import { main } from '../src/cli/main.ts';

/** `npm start`: `baton demo` from the source. The folder is kept, because a reader of the code wants to look into it. */
process.exitCode = await main(['demo', '--keep', ...process.argv.slice(2)]);
