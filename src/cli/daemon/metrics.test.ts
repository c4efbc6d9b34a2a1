import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderScrapeConfig } from './metrics.ts';

it.each(['/home/ada/state/metrics.token', '/home/a b/it\'s: "x" #1/metrics.token'])(
  'prints a configuration for Prometheus that is valid YAML: %s',
  (file) => {
    expect(parse(renderScrapeConfig(4711, file))).toEqual({
      scrape_configs: [
        {
          job_name: 'baton',
          authorization: { credentials_file: file },
          static_configs: [{ targets: ['127.0.0.1:4711'] }],
        },
      ],
    });
  },
);
