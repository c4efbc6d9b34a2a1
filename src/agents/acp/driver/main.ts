import { readStdin } from '../../../api/stdio.ts';
import { Drive } from './drive.ts';
import { requireSettings } from './settings.ts';

/** Runs as `node PROGRAM SETTINGS`, with the prompt on standard input. */
async function main(): Promise<void> {
  const drive = new Drive(requireSettings(process.argv[2] ?? ''));
  process.on('SIGTERM', () => void drive.cancel());
  process.exit(await drive.run(readStdin().toString('utf8')));
}

void main();
