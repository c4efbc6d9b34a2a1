import { useState } from 'preact/hooks';
import {
  describeAgents,
  describeClock,
  describeHostState,
  type FleetView,
  type HostView,
} from '../../../api/fleet-view.ts';
import type { StatusView } from '../../../api/run-views.ts';
import { call } from '../../app/hub-client.ts';
import type { Loaded } from '../../hub/messages.ts';
import { Action, CopyCommand } from '../../kit/action.tsx';
import { Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { StateMark, type Tone } from '../../kit/state-mark.tsx';
import { Age, renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';

export function Hosts({ status }: { readonly status: Loaded<StatusView> }) {
  return (
    <div class="page-part">
      <Show loaded={status} what="the hosts">
        {(value) => (value.fleet === undefined ? <OneMachine status={value} /> : <ManyHosts fleet={value.fleet} />)}
      </Show>
    </div>
  );
}

function OneMachine({ status: { store, agents, seq } }: { readonly status: StatusView }) {
  const running = agents.filter(({ outcome }) => outcome === null).length;
  return (
    <section class="part">
      <h2>This machine</h2>
      <dl class="facts">
        <dt>State</dt>
        <dd>
          {store.writable ? (
            <StateMark state="live" />
          ) : (
            <>
              <StateMark state="broken" word="the ledger cannot be written" /> <Words text={store.reason} />.{' '}
              <Words text={store.hint} />
            </>
          )}
        </dd>
        <dt>Agents</dt>
        <dd class="number">{renderCount(running)} running</dd>
        <dt>Ledger</dt>
        <dd class="number">{renderCount(seq)} entries</dd>
      </dl>
      <p class="dim">
        This project is on one machine. With a PostgreSQL database, other machines can join:{' '}
        <code>baton host join</code>
      </p>
    </section>
  );
}

function ManyHosts({ fleet }: { readonly fleet: FleetView }) {
  const { hosts, caretaker, store, remote, problems, requests } = fleet;
  return (
    <>
      {problems.map(({ message, hint }) => (
        <p key={message} class="failure" role="alert">
          <Words text={message} />. <Words text={hint} />
        </p>
      ))}
      {requests.map((request) => (
        <Admission key={request.fingerprint} request={request} />
      ))}
      <section class="part">
        <h2>
          Hosts <span class="number dim">{renderCount(hosts.length)}</span>
        </h2>
        <div class="wide" role="region" aria-label="Hosts" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>Host</th>
                <th>State</th>
                <th>Labels</th>
                <th class="right">Agents</th>
                <th class="right">Claims</th>
                <th class="right">Behind</th>
                <th class="right">Clock</th>
                <th class="right">Last report</th>
                <th>Version</th>
                <th>Actions</th>
              </tr>
            </thead>
            <tbody>
              {hosts.map((host) => (
                <HostLine key={host.name} host={host} />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section class="part">
        <h2>Shared</h2>
        <dl class="facts">
          <dt>Caretaker</dt>
          <dd>
            {caretaker === null ? (
              <StateMark state="waiting" word="none: timers, checks and merges do not run" />
            ) : (
              <>
                <Words text={caretaker.host} most={100} /> <span class="dim number">term {caretaker.term}</span>
              </>
            )}
          </dd>
          <dt>Database</dt>
          <dd>
            {store.away_since === null ? <StateMark state="live" /> : <StateMark state="away" word="does not answer" />}{' '}
            <Age at={store.away_since} /> <Words text={store.url} most={300} />
            {store.latency_ms === null ? null : <span class="dim number"> {store.latency_ms} ms</span>}
          </dd>
          <dt>Git remote</dt>
          <dd>{remote === null ? <span class="dim">none on record</span> : <Words text={remote} most={300} />}</dd>
          <dt>Ledger</dt>
          <dd class="number">
            {renderCount(fleet.size)} entries, level {fleet.level}
          </dd>
        </dl>
      </section>
    </>
  );
}

const TONES: Readonly<Record<HostView['state'], Tone>> = {
  live: 'good',
  silent: 'bad',
  draining: 'wait',
  removed: 'dim',
};

function HostLine({ host }: { readonly host: HostView }) {
  const { name, state, labels, agents, claims, lag, offset_ms: offset, silent_ms: silent, version } = host;
  return (
    <tr data-host={name} title={host.summary}>
      <th scope="row">
        <Words text={name} most={100} />
        {host.here ? <span class="tag">here</span> : null}
        {host.caretaker ? <span class="tag">caretaker</span> : null}
      </th>
      <td>
        <StateMark state={state} tone={TONES[state]} word={describeHostState(host)} />
      </td>
      <td>
        <Words text={labels.join(', ')} most={200} />
      </td>
      <td class="right number">{describeAgents(agents).replace('agents ', '')}</td>
      <td class="right number">{claims}</td>
      <td class="right number">{lag === null ? '–' : `${renderCount(lag)} ${lag === 1 ? 'entry' : 'entries'}`}</td>
      <td class="right number">
        {offset === null ? '–' : Math.abs(offset) < 1000 ? `${offset} ms` : describeClock(offset).replace('clock ', '')}
      </td>
      <td class="right number">{silent === null ? '–' : `${renderSpan(silent)} ago`}</td>
      <td class="dim">
        <Words text={version ?? 'not known'} most={40} />
      </td>
      <td>{state === 'removed' ? null : <Draining host={host} />}</td>
    </tr>
  );
}

function Draining({ host: { name, state } }: { readonly host: HostView }) {
  const isDraining = state === 'draining';
  return (
    <span class="bar">
      <Action
        label={isDraining ? 'Undo drain' : 'Drain'}
        title={
          isDraining
            ? 'The host takes new work again'
            : 'The host takes no new work; sessions that run there end normally'
        }
        act={async () => call('host_drain', { host: name, draining: !isDraining })}
      />
      <CopyCommand command={`baton host drain ${name}${isDraining ? ' --undo' : ''}`} />
    </span>
  );
}

/**
 * The form to admit a host. The operator types the fingerprint that the host printed: one that the page filled in would
 * always match.
 */
function Admission({ request }: { readonly request: FleetView['requests'][number] }) {
  const { host, labels, agents } = request;
  const [fingerprint, setFingerprint] = useState('');
  return (
    <section class="card admission" aria-label={`The host ${host} asks to join`}>
      <p>
        <StateMark state="waiting" word="asks to join" /> <Words text={host} most={100} />
        <span class="dim">
          {' '}
          {agents} agents{labels.length === 0 ? '' : ', labels '}
          <Words text={labels.join(', ')} most={200} />
        </span>
      </p>
      <div class="bar">
        <label class="reason-field">
          <span class="sr">Fingerprint that the host printed</span>
          <input
            type="text"
            placeholder="Fingerprint that the host printed"
            spellcheck={false}
            value={fingerprint}
            onInput={({ currentTarget }) => setFingerprint(currentTarget.value.trim())}
          />
        </label>
        <Action
          label="Admit"
          tone="primary"
          disabled={fingerprint === ''}
          act={async () => call('host_admit', { host, fingerprint })}
        />
        <CopyCommand command={`baton host admit ${host} FINGERPRINT`} />
      </div>
    </section>
  );
}
