import type { KeyView } from '../../../api/keys/key-view.ts';
import { agoWords, isNew, isUnused, UNUSED_AFTER_DAYS } from '../format/duration.ts';
import { Ago, Badge, Time } from '../ui/elements.tsx';

/** How long ago the latest call with a key was, in a cell of a table, with a badge where the key is not in use. */
export function LastUsed({ of }: { of: KeyView }) {
  const { last_used_at: at } = of;
  return (
    <span className="last-used">
      {at !== null && <Ago at={at} words={agoWords(at)} />} <Unused of={of} />
    </span>
  );
}

/** When the latest call with a key was, in a line of words. */
export function LastUse({ of }: { of: KeyView }) {
  const { last_used_at: at } = of;
  return (
    <span>
      {at !== null && (
        <>
          last used <Ago at={at} words={agoWords(at)} />, <Time at={at} />
        </>
      )}{' '}
      <Unused of={of} />
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
