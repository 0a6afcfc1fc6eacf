import type { KeyView } from '../../../api/keys/key-view.ts';
import { count } from '../format/credits.ts';
import { agoWords, isNew, isUnused, UNUSED_AFTER_DAYS } from '../format/duration.ts';
import { Ago, Badge, Time } from '../ui/elements.tsx';

/**
 * How long ago the latest call with a key was, in a cell of a table, with a badge where the key is not in use. Calls
 * that were all refused are no use, but the cell says that there are such: `refused` of the last 30 days.
 */
export function LastUsed({ of, refused }: { of: KeyView; refused: number }) {
  const { last_used_at: at } = of;
  const isRefused = refused > 0 && isUnused(at);
  return (
    <span className="last-used">
      {at !== null && <Ago at={at} words={agoWords(at)} />}{' '}
      {isRefused ? <AllRefused refused={refused} /> : <Unused of={of} />}
    </span>
  );
}

function AllRefused({ refused }: { refused: number }) {
  return (
    <Badge kind="bad" title={`${callsRefused(refused)} in the last 30 days, and none accepted.`}>
      All refused
    </Badge>
  );
}

function callsRefused(refused: number): string {
  return `${count(refused)} ${refused === 1 ? 'call' : 'calls'} refused`;
}

/** When the latest call with a key was, in a line of words; `refused` as in a table. */
export function LastUse({ of, refused = 0 }: { of: KeyView; refused?: number }) {
  const { last_used_at: at } = of;
  const isRefused = refused > 0 && isUnused(at);
  return (
    <span>
      {at !== null && (
        <>
          last used <Ago at={at} words={agoWords(at)} />, <Time at={at} />
        </>
      )}{' '}
      {isRefused ? <AllRefused refused={refused} /> : <Unused of={of} />}
    </span>
  );
}

/** Badge of a key that is not in use; no warning while the key is new. */
function Unused({ of: { last_used_at: at, created_at } }: { of: KeyView }) {
  if (!isUnused(at)) return null;
  if (at === null && isNew(created_at)) return <Badge kind="plain">Never used</Badge>;
  return (
    <Badge kind="warning" title={`No call in the last ${UNUSED_AFTER_DAYS} days.`}>
      {at === null ? 'Never used' : 'Unused'}
    </Badge>
  );
}
