import type { ResultOf } from '../../api/operations/registry.ts';
import type { StatusView } from '../../api/run-views.ts';
import type { Loaded } from '../hub/messages.ts';
import { renderCount } from '../kit/numbers.ts';
import { visible } from '../kit/words.tsx';
import { hrefTo, project, route, type ViewName } from './router.ts';
import { standing } from './hub-client.ts';
import { openHelp, openPalette } from './overlay.ts';
import { NotificationSwitch } from './signals.tsx';
import { nextTheme, theme } from './theme.ts';

type Projects = ResultOf<'projects_list'>;

const ENTRIES: readonly (readonly [ViewName, string, string])[] = [
  ['inbox', 'Inbox', 'i'],
  ['work', 'Work', 'w'],
  ['tasks', 'Tasks', 't'],
  ['fleet', 'Fleet', 'f'],
  ['ledger', 'Ledger', 'l'],
];

/** The navigation rail with the project and the five views. On a narrow screen it is the bar at the bottom. */
export function Rail({
  projects,
  status,
}: {
  readonly projects: Loaded<Projects>;
  readonly status: Loaded<StatusView>;
}) {
  const counts: Partial<Record<ViewName, number>> = countsOf(status);
  return (
    <nav class="rail" aria-label="Baton">
      <p class="brand">Baton</p>
      <Switcher projects={projects.value?.projects ?? []} />
      <ul>
        {ENTRIES.map(([view, label, letter]) => (
          <li key={view}>
            <a
              href={hrefTo({ view })}
              aria-current={isWithin(view) ? 'page' : undefined}
              title={`${label} (g ${letter})`}
            >
              <span class={`sign ${view}`} aria-hidden="true" />
              <span class="label">{label}</span>
              {counts[view] === undefined ? null : <span class="count number">{renderCount(counts[view])}</span>}
            </a>
          </li>
        ))}
      </ul>
      <div class="tools">
        <button type="button" onClick={openPalette} title="Find anything (Ctrl K)">
          Find <kbd>Ctrl K</kbd>
        </button>
        <NotificationSwitch />
        <button type="button" onClick={nextTheme}>
          Theme: {theme.value}
        </button>
        <button type="button" onClick={openHelp} title="Keyboard shortcuts">
          Keys <kbd>?</kbd>
        </button>
      </div>
    </nav>
  );
}

/** Counts are shown only while the daemon answers: an outdated number would look current. */
function countsOf({ value }: Loaded<StatusView>): Partial<Record<ViewName, number>> {
  return value === undefined || standing.value.link.kind !== 'live' ? {} : { inbox: value.needs, work: value.running };
}

function isWithin(view: ViewName): boolean {
  const now = route.value.view;
  return now === view || (now === 'session' && view === 'work');
}

function Switcher({ projects }: { readonly projects: Projects['projects'] }) {
  return (
    <label class="switcher">
      <span class="sr">Project</span>
      <select
        value={project.value ?? ''}
        onChange={({ currentTarget }) => void (location.hash = hrefTo({ view: 'inbox', project: currentTarget.value }))}
      >
        {project.value === undefined ? <option value="">No project</option> : null}
        {projects.map(({ id, name, needs, path }) => (
          <option key={id} value={id} title={visible(path, 200)}>
            {visible(name, 60)}
            {needs > 0 ? ` (${needs})` : ''}
          </option>
        ))}
      </select>
    </label>
  );
}
