import { OWN } from '../api/account.ts';
import { NO_FILTER, readCalls } from '../api/calls.ts';
import { useLoad } from '../api/use-load.ts';
import { agoWords } from '../format/duration.ts';
import { CallStatus } from '../requests/request-table.tsx';
import { Amount } from '../ui/amount.tsx';
import { Ago } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';

const SHOWN = 5;

/** The latest calls with a key, refused ones too, each a link to its details. */
export function LastCalls({ keyId }: { keyId: number }) {
  const loaded = useLoad(
    (signal) => readCalls(OWN, { ...NO_FILTER, key_id: String(keyId) }, '', SHOWN, signal),
    String(keyId),
  );
  const all = `#/requests?key_id=${keyId}`;
  return (
    <section className="card">
      <div className="section-head">
        <h2>Last calls</h2>
        <a href={all}>All requests of this key</a>
      </div>
      <Shown of={loaded}>
        {({ calls }) =>
          calls.length === 0 ? (
            <p className="hint">No call was made with this key yet.</p>
          ) : (
            <Table label="Last calls" columns={['Time', 'Model', 'Status', ['Charge', 'number']]}>
              {calls.map((call) => (
                <tr key={call.id} className="compact">
                  <th scope="row" className="nowrap">
                    <a href={`${all}&request=${encodeURIComponent(call.id)}`}>
                      <Ago at={call.created_at} words={agoWords(call.created_at)} />
                    </a>
                  </th>
                  <td className="clip compact-whole">{call.model ?? '–'}</td>
                  <td className="clip compact-whole" title={call.message ?? undefined}>
                    <CallStatus of={call} />
                  </td>
                  <td className="number compact-figure">
                    <Amount of={call.charge} isInRow />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
    </section>
  );
}
