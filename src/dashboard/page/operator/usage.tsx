import type { MarginReportView, MarginRowView, MarginSumsView } from '../../../api/operator/margin-view.ts';
import { wordsOf } from '../api/failure.ts';
import { exportUsageOfAll, readUsageOfAll, USAGE_CHOICES, type UsageChoice } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { usageWords } from '../format/usage.ts';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { announce } from '../ui/announcements.tsx';
import { Empty } from '../ui/elements.tsx';
import { Choice, Day } from '../ui/filters.tsx';
import { PageFrame } from '../ui/page.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';

const GROUPS = [
  ['account', 'Account'],
  ['key', 'Key'],
  ['model', 'Model'],
  ['upstream', 'Provider'],
  ['day', 'Day (UTC)'],
] as const;

/** Rows that are drawn; the export has all of them. */
const SHOWN = 500;

/** What all accounts used and were charged, with the cost and the margin where the price list tells them. */
export function Usage() {
  const chosen = Object.fromEntries(USAGE_CHOICES.map((name) => [name, query.value.get(name) ?? '']));
  const choice = { ...chosen, group_by: chosen.group_by || 'account' } as UsageChoice;
  const loaded = useLoad((signal) => readUsageOfAll(choice, signal), JSON.stringify(choice));
  return (
    <PageFrame title="Usage" actions={<Export of={choice} />}>
      <search className="filters">
        <Choice
          label="Group by"
          value={choice.group_by}
          choices={GROUPS}
          onValue={(group_by) => choose({ group_by })}
        />
        <Day label="From (UTC)" value={choice.from} onValue={(from) => choose({ from }, 'replace')} />
        <Day label="To (UTC)" value={choice.to} onValue={(to) => choose({ to }, 'replace')} />
      </search>
      <Shown of={loaded}>{(report) => <Report of={report} />}</Shown>
    </PageFrame>
  );
}

function Report({ of: report }: { of: MarginReportView }) {
  const { from, to, group_by, rows, total } = report;
  const span = `${dayName(from)} to ${dayName(to)} ${to.slice(0, 4)}`;
  if (rows.length === 0) {
    return (
      <Empty title={`No calls from ${span}`}>
        <p>Choose other days.</p>
      </Empty>
    );
  }
  const name = GROUPS.find(([group]) => group === group_by)?.[1] ?? 'Group';
  return (
    <>
      <p className="hint">
        {span}, days of UTC. Cost is what providers take by the price list; the margin is what is left of the
        charges whose cost is known.
        {rows.length > SHOWN && ` The first ${SHOWN} of ${count(rows.length)} rows: the export has all.`}
      </p>
      <Table
        label="Usage"
        columns={[
          name,
          ['Calls', 'number'],
          ['Charged', 'number'],
          ['Cost coverage', 'number'],
          ['Cost', 'number'],
          ['Margin', 'number'],
          ['Used', 'wide-only'],
        ]}
      >
        <tr className="total">
          <th scope="row">All</th>
          <Sums of={total} />
        </tr>
        {rows.slice(0, SHOWN).map((row) => (
          <tr key={groupOf(row)}>
            <th scope="row">
              <Group of={row} />
            </th>
            <Sums of={row} />
          </tr>
        ))}
      </Table>
    </>
  );
}

function groupOf({ account_id, key_id, model, upstream, day }: MarginRowView): string {
  return String(account_id ?? key_id ?? model ?? upstream ?? day ?? 'none');
}

function Group({ of: row }: { of: MarginRowView }) {
  if (row.account_id != null)
    return <a href={`#/accounts/${row.account_id}`}>{row.email ?? `No. ${row.account_id}`}</a>;
  if (row.key_id != null) return <>{row.key_name ?? `No. ${row.key_id}`}</>;
  if (row.day !== undefined) return <>{dayName(row.day)}</>;
  return <>{groupOf(row)}</>;
}

function Sums({ of: sums }: { of: MarginSumsView }) {
  return (
    <>
      <td className="number">{count(sums.calls)}</td>
      <td className="number">
        <Amount of={sums.charged} isInRow />
      </td>
      <td className="number">
        <Amount of={sums.charged_with_cost} isInRow />
      </td>
      <td className="number">{sums.cost === null ? '–' : <Amount of={sums.cost} isInRow />}</td>
      <td className="number">{sums.margin === null ? '–' : <Amount of={sums.margin} isInRow />}</td>
      <td className="used wide-only">{usageWords(sums.usage) || '–'}</td>
    </>
  );
}

/** Saves the whole report, as it is chosen, to a file. */
function Export({ of: choice }: { of: UsageChoice }) {
  const action = useAction(async () => {
    saveFile(await exportUsageOfAll(choice), 'usage.csv');
    announce('Report exported.');
  });
  return (
    <>
      <button type="button" disabled={action.isBusy} onClick={() => action.run()}>
        Export CSV
      </button>
      {action.error !== undefined && (
        <p className="field-error" role="alert">
          {wordsOf(action.error)}
        </p>
      )}
    </>
  );
}
