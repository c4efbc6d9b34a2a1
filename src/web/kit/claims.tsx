import { Words } from './words.tsx';

export interface ClaimedFact {
  readonly about: string;
  readonly said: string | null;
  readonly measured: string | null;
  readonly differs: boolean;
}

/** A session's reports beside Baton's measurements. A difference is marked by a word and a colour. */
export function Claims({ claims }: { readonly claims: readonly ClaimedFact[] }) {
  return (
    <table class="claims">
      <thead>
        <tr>
          <th>About</th>
          <th>Reported</th>
          <th>Measured</th>
        </tr>
      </thead>
      <tbody>
        {claims.map(({ about, said, measured, differs }) => (
          <tr key={about} class={differs ? 'differs' : ''}>
            <th scope="row">
              <Words text={about} most={80} />
              {differs ? <strong class="state bad">✕ differs</strong> : null}
            </th>
            <td>{said === null ? <span class="dim">nothing</span> : <Words text={said} most={2000} />}</td>
            <td>{measured === null ? <span class="dim">not measured</span> : <Words text={measured} most={2000} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
