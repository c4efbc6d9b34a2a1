import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { standing } from '../../app/hub-client.ts';
import { project } from '../../app/router.ts';
import type { ProjectStanding } from '../../hub/messages.ts';

/** The update interval: entries may arrive a hundred times a second. */
const PACE_MS = 250;

/** The project's progress in the stream, updated at most a few times a second. */
export function useOwnStanding(): ProjectStanding | undefined {
  const [own, setOwn] = useState(findOwn);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let shown = JSON.stringify(findOwn());
    const show = (): void => {
      timer = undefined;
      const next = findOwn();
      const text = JSON.stringify(next);
      if (text === shown) return;
      shown = text;
      setOwn(next);
    };
    const end = effect(() => {
      findOwn();
      timer ??= setTimeout(show, PACE_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, []);
  return own;
}

function findOwn(): ProjectStanding | undefined {
  return standing.value.projects.find(({ id }) => id === project.value);
}
