import { findStateDir, readDaemonRecord, stateFiles } from '../../api/state-folder.ts';
import { object, text } from '../../protocol/shape/build-shape.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { JSON_OPTION, reportError } from '../operation-command.ts';
import { printable } from '../text.ts';

/** Prints a file name and never the token, because terminal output gets into logs and recordings. */
export const metricsCommand: CliCommand = {
  examples: ['baton metrics', 'baton metrics --json'],
  args: [],
  options: [JSON_OPTION],
  json: [
    {
      shape: object({
        url: { ...text, about: 'Where the metrics are served.' },
        token_file: { ...text, about: 'The file with the token that it needs.' },
      }),
    },
  ],
  async run(given, io) {
    const health = await withClient(given, io, async (client) => client.health());
    if (!health.ok) return reportError(health.error, given, io);
    const stateDir = findStateDir(io.env);
    const { port = 0 } = readDaemonRecord(stateDir) ?? {};
    const { metricsToken: file } = stateFiles(stateDir);
    const shown = { url: `http://127.0.0.1:${port}/metrics`, token_file: file };
    io.out(given.options.has('json') ? `${JSON.stringify(shown)}\n` : renderScrapeConfig(port, file));
    return EXIT.ok;
  },
};

/** Renders the configuration for `prometheus.yml`. JSON strings are valid YAML, whatever the path contains. */
export function renderScrapeConfig(port: number, tokenFile: string): string {
  return [
    '# Only you can read the token file. Copy it if Prometheus runs as another user.',
    'scrape_configs:',
    '  - job_name: baton',
    '    authorization:',
    `      credentials_file: ${printable(JSON.stringify(tokenFile))}`,
    '    static_configs:',
    `      - targets: ["127.0.0.1:${port}"]`,
    '',
  ].join('\n');
}
