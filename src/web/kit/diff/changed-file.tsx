import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { TaskDiff } from '../../../api/operations/task-work.ts';
import type { CommentTargets } from '../../model/sessions.ts';
import { renderCount } from '../numbers.ts';
import { visible } from '../visible.ts';
import { Words } from '../words.tsx';
import { Counts } from './counts.tsx';
import { PatchTable } from './patch-table.tsx';
import { type PatchPlace, usePatch } from './use-patch.ts';

type DiffFile = TaskDiff['files'][number];

interface ChangedFileProps {
  readonly file: DiffFile;
  readonly place: PatchPlace;
  readonly isOpen: boolean;
  /** Whether the address names this file. */
  readonly isNamed: boolean;
  readonly toggle: (next: boolean) => void;
  readonly targets: CommentTargets;
}

const ACTIONS: Readonly<Record<DiffFile['action'], readonly [letter: string, tone: string]>> = {
  created: ['A', 'good'],
  modified: ['M', 'wait'],
  deleted: ['D', 'bad'],
};

/** One line for a file. When opened, it loads and shows the patch. */
export function ChangedFile({ file, place, isOpen, isNamed, toggle, targets }: ChangedFileProps) {
  const head = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (isNamed) head.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const [letter, tone] = ACTIONS[file.action];
  return (
    <>
      <h3 class="file" ref={head}>
        <button type="button" aria-expanded={isOpen} onClick={() => toggle(!isOpen)} title={visible(file.path, 1000)}>
          <span class="fold" aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
          <span class={`state ${tone}`}>
            <span aria-hidden="true">{letter}</span>
            <span class="sr">{file.action}</span>
          </span>
          <span class="path one-line">
            <Path path={file.path} />
          </span>
          {file.binary ? <span class="dim">binary</span> : <Counts {...file} />}
        </button>
      </h3>
      {isOpen ? <Opened file={file} place={place} targets={targets} /> : null}
    </>
  );
}

/** Emphasises the file's name, which people look for; its folder is dim. */
function Path({ path }: { readonly path: string }) {
  const cut = path.lastIndexOf('/') + 1;
  return (
    <>
      {cut === 0 ? null : (
        <span class="dim">
          <Words text={path.slice(0, cut)} most={400} />
        </span>
      )}
      <Words text={path.slice(cut)} most={400} />
    </>
  );
}

function Opened({ file, place, targets }: Pick<ChangedFileProps, 'file' | 'place' | 'targets'>) {
  if (file.binary) return <p class="aside">A binary file: it has no lines to show.</p>;
  return <Patch place={place} targets={targets} />;
}

/** More rows than this at once would block the page. */
const STEP = 400;

function Patch({ place, targets }: Pick<ChangedFileProps, 'place' | 'targets'>) {
  const { rows, isCut = false, error } = usePatch(place);
  const [most, setMost] = useState(STEP);
  const left = (rows?.length ?? 0) - most;
  return (
    <>
      {error === undefined ? null : (
        <p class="failure" role="alert">
          <strong>The patch cannot be shown:</strong> <Words text={error.message} />. <Words text={error.hint} />
        </p>
      )}
      {rows === undefined ? error === undefined ? <p class="aside">Loading the patch…</p> : null : null}
      {rows === undefined ? null : rows.length === 0 ? (
        <p class="aside">{isCut ? 'The patch is too large to show.' : 'No line changed.'}</p>
      ) : (
        <PatchTable rows={left > 0 ? rows.slice(0, most) : rows} place={place} targets={targets} />
      )}
      {left > 0 ? (
        <p class="aside bar">
          <button type="button" onClick={() => setMost(most + STEP)}>
            Show {renderCount(Math.min(left, STEP))} more of {renderCount(left)} lines
          </button>
        </p>
      ) : null}
      {isCut && left <= 0 ? (
        <p class="aside">
          The patch is cut here. Git has the rest:{' '}
          <code>
            git diff {place.base.slice(0, 12)} {place.head.slice(0, 12)}
          </code>
        </p>
      ) : null}
    </>
  );
}
