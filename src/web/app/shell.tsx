import { useEffect } from 'preact/hooks';
import { Notes } from '../kit/notes.tsx';
import { Words } from '../kit/words.tsx';
import { VIEWS } from '../views/views.tsx';
import { Foot } from './foot.tsx';
import { standing, useApi } from './hub-client.ts';
import { Overlays } from './overlays.tsx';
import { hrefTo, project, route, wantedPath } from './router.ts';
import { Signals } from './signals.tsx';
import { Rail } from './rail.tsx';

/** The frame: rail, view, foot. It shows nothing before the daemon has proved its identity. */
export function Shell() {
  const { link } = standing.value;
  const projects = useApi('projects_list', {}, { project: null, on: 'projects', everyMs: 5000 });
  const status = useApi('status_get', project.value === undefined ? undefined : {}, { on: 'all', everyMs: 3000 });
  useEffect(() => chooseProject(projects.value?.projects ?? []), [projects.value, project.value, wantedPath.value]);
  if (link.kind === 'locked') return <Locked why={link.why} hint={link.hint} />;
  const { view } = route.value;
  const View = VIEWS[view];
  return (
    <div class="frame">
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Rail projects={projects} status={status} />
      <main id="view" class={`view ${view}`} tabIndex={-1}>
        {project.value === undefined ? (
          <NoProject isLoaded={projects.value !== undefined} isAway={link.kind === 'away'} />
        ) : (
          <View route={route.value} status={status} />
        )}
      </main>
      <Foot />
      <Notes />
      <Overlays />
      <Signals status={status} />
    </div>
  );
}

interface Known {
  readonly id: string;
  readonly path: string;
}

/** Chooses the project of the address; else the one in which `baton web` was run; else the last one viewed. */
function chooseProject(projects: readonly Known[]): void {
  if (project.peek() !== undefined || projects.length === 0) return;
  const last = localStorage.getItem('project');
  const chosen =
    projects.find(({ path }) => path === wantedPath.peek()) ?? projects.find(({ id }) => id === last) ?? projects[0];
  if (chosen !== undefined) location.replace(hrefTo({ view: 'inbox', project: chosen.id }));
}

function Locked({ why, hint }: { readonly why: string; readonly hint: string }) {
  return (
    <main class="locked">
      <h1>Baton</h1>
      <p role="alert">{why}</p>
      <p>
        <Words text={hint} />
      </p>
      <p class="dim">
        The command opens this page with a code that works once, within 60 seconds. The page then has a key of its own.
        <code>baton web keys</code> lists and revokes these keys.
      </p>
    </main>
  );
}

function NoProject({ isLoaded, isAway }: { readonly isLoaded: boolean; readonly isAway: boolean }) {
  if (isAway) return <p class="empty">The daemon is away, and this page has shown no project yet.</p>;
  return (
    <p class="empty">
      {isLoaded ? (
        <>
          This daemon has no project yet. In a repository, run: <code>baton task add ID --title "TITLE"</code>
        </>
      ) : (
        'Asking the daemon…'
      )}
    </p>
  );
}
