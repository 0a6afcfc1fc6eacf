import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { type Base, readUsageOf } from '../api/account.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';
import { dayOf } from '../ui/range-picker.tsx';

/** The last 30 days and the 30 before them. */
const DAYS = 60;

/** Loads the sums by day from which figures compare spans: the last 60 UTC days. */
export function useDays(base: Base, keyId = ''): Loaded<UsageReportView> {
  return useLoad((signal) => {
    const now = Date.now();
    const span = { from: dayOf(now - (DAYS - 1) * 86_400_000), to: dayOf(now) };
    return readUsageOf(base, { group_by: 'day', key_id: keyId, ...span }, signal);
  }, `${base} ${keyId}`);
}
