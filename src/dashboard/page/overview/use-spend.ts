import type { KeyView } from '../../../domain/key-view.ts';
import { type Base, readKeys, readUsage, type UsageReport } from '../api/account.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';

export interface SpendReports {
  readonly byDay: UsageReport;
  readonly byKey: UsageReport;
  readonly byModel: UsageReport;
  readonly keys: readonly KeyView[];
}

/** What was spent in the last 30 days. */
export function useSpend(base: Base): Loaded<SpendReports> {
  return useLoad(async (signal) => {
    const [byDay, byKey, byModel, keys] = await Promise.all([
      readUsage(base, 'day', signal),
      readUsage(base, 'key', signal),
      readUsage(base, 'model', signal),
      readKeys(base, signal),
    ]);
    return { byDay, byKey, byModel, keys };
  });
}
