import { main } from '../src/cli/main.ts';

/** `npm start`: `baton demo` from the source. The folder is kept, so that readers of the code can look into it. */
process.exitCode = await main(['demo', '--keep', ...process.argv.slice(2)]);
