import { moment, zone } from '../format/time.ts';

/** A moment in the zone that is chosen; the other one on demand. */
export function Time({ at, seconds = false }: { at: string; seconds?: boolean }) {
  const here = zone.value;
  const other = here === 'utc' ? moment(at, 'local', true) : `${moment(at, 'utc', true)} UTC`;
  return (
    <time dateTime={at} title={other}>
      {moment(at, here, seconds)}
      {here === 'utc' && ' UTC'}
    </time>
  );
}
