import { expect, it } from 'vitest';
import { openChannels } from './open-channels.ts';

const names = (settings: Parameters<typeof openChannels>[0]) =>
  openChannels(settings, { env: {} }).map(({ name }) => name);

it('opens the configured channels', () => {
  expect(names({})).toEqual(['terminal', 'desktop']);
  expect(names({ desktop: false })).toEqual(['terminal']);
  expect(names({ desktop: false, terminal: false, webhook: 'https://example.com/x' })).toEqual(['webhook']);
  expect(names({ webhook: '' })).toEqual(['terminal', 'desktop']);
});
