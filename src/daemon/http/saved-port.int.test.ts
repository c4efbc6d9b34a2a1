import { createServer } from 'node:net';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stateFiles } from '../../api/state-folder.ts';
import { Scene } from '../running.cases.ts';

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(async () => scene.end());

/** Starts and stops a daemon, and returns the port that it used. */
async function portOfNext(): Promise<number> {
  const daemon = await scene.runDaemon();
  await daemon.stop();
  return daemon.record.port;
}

describe('the port of a daemon', () => {
  it("is the previous daemon's, so that pages and webhooks find it", async () => {
    const port = await portOfNext();
    expect(await portOfNext()).toBe(port);
  });

  it('is another one if it is taken, or if the saved value is invalid', async () => {
    const port = await portOfNext();
    const thief = createServer().listen(port, '127.0.0.1');
    await once(thief, 'listening');
    expect(await portOfNext()).not.toBe(port);
    thief.close();
    writeFileSync(stateFiles(scene.stateDir).port, 'seven');
    expect(await portOfNext()).toBeGreaterThan(1023);
  });
});
