import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Layer } from '../../protocol/sandbox.ts';
import { withKept } from '../plan/layer-paths.ts';
import { probeBubblewrap } from '../probe.ts';
import { openLayers } from './open-layers.ts';
import { overlayWorks } from './probe-overlay.ts';

const bubblewrap = await probeBubblewrap();
const bwrap = bubblewrap.works ? bubblewrap.path : '';
const hasOverlay = bubblewrap.works && (await overlayWorks(tmpdir(), bwrap, process.env));

let root: string;
beforeEach(() => {
  // Names that the options of a mount cannot hold.
  root = mkdtempSync(join(tmpdir(), 'baton layers,a:b-'));
  put('lower/dir/file', 'lower');
  put('lower/dir/removed', 'lower');
  put('lower/linked', 'lower');
  linkSync(join(root, 'lower/linked'), join(root, 'other-name'));
  put('upper/dir/more', 'upper');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The names, modes and contents below a folder. */
function look(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const stat = statSync(join(folder, name));
      return `${name} ${stat.mode.toString(8)} ${stat.isFile() ? readFileSync(join(folder, name), 'utf8') : ''}`;
    });
}

/** Runs a script in a layer as a command of the project would, and returns what it printed. */
async function runIn(layer: Layer, script: string): Promise<string> {
  const layers = await openLayers([layer], process.env);
  const inside = ['--unshare-user', '--bind', '/', '/', '--chdir', layer.folder, '/bin/sh', '-c', script];
  const [program = '', ...args] = [...layers.enter, bwrap, ...inside];
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } finally {
    layers.close();
  }
}

const HOSTILE = `
  cat dir/file dir/more
  echo changed >dir/file; echo changed >linked; rm dir/removed; rm -rf dir; mkdir dir; ln -s /etc dir/link
  ln linked second; echo through >second; chmod 0 linked; mkdir -p shut/below; chmod 0 shut; mkfifo pipe`;

describe.skipIf(!bubblewrap.works).each(['overlay', 'copy'] as const)(
  `a layer as %s${bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`}`,
  (how) => {
    const isSkipped = how === 'overlay' && !hasOverlay;

    it.skipIf(isSkipped)('shows the lower folders, and leaves nothing in them or beside them', async () => {
      const [folder, lowers] = [join(root, 'layer'), [join(root, 'upper'), join(root, 'gone'), join(root, 'lower')]];
      const before = look(root);
      expect(await runIn({ folder, lowers, how }, HOSTILE)).toBe('lowerupper');
      expect(look(root)).toEqual(before);
      expect(await runIn({ folder, lowers, how }, HOSTILE)).toBe('lowerupper');
    });

    it.skipIf(isSkipped)('is seen by later layers if it is kept', async () => {
      const lowers = [join(root, 'lower')];
      const kept = join(root, 'kept');
      await runIn({ folder: join(root, 'layer'), lowers, how, keptIn: kept }, 'echo new >dir/file; echo x >added');
      const later = { folder: join(root, 'later'), lowers: withKept(kept, lowers), how };
      expect(await runIn(later, 'cat dir/file added linked')).toBe('new\nx\nlower');
      expect(readFileSync(join(root, 'lower/dir/file'), 'utf8')).toBe('lower');
    });

    it.skipIf(isSkipped)('starts anew after a process that was killed, whatever it left', async () => {
      const layer: Layer = { folder: join(root, 'layer'), lowers: [join(root, 'lower')], how };
      await openLayers([layer], process.env);
      put(how === 'overlay' ? 'layer.overlay/upper/dir/file' : 'layer/dir/file', 'left');
      expect(await runIn(layer, 'cat dir/file')).toBe('lower');
    });
  },
);

it('a machine without overlays is found by trying', async () => {
  expect(await overlayWorks(join(root, 'state'), '/bin/false', process.env)).toBe(false);
});
