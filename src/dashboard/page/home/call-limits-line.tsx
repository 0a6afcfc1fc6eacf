import type { CallLimitsView } from '../../../api/keys/key-view.ts';
import { callLimitWords } from '../format/call-limits.ts';

/** Rate limits of an account or a key in a line; nothing where there are none. */
export function CallLimitsLine({ of, whose }: { of: CallLimitsView; whose: string }) {
  const words = callLimitWords(of);
  if (words.length === 0) return null;
  return (
    <p className="call-limits">
      Limits {whose}: <strong>{words.join(', ')}</strong>.
    </p>
  );
}
