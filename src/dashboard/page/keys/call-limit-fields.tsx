import { rowAt } from '../../../domain/key-settings.ts';
import { CALL_LIMITS, type CallLimit } from '../format/call-limits.ts';
import { TextField } from '../ui/field.tsx';
import type { CallLimitTexts } from './call-limit-texts.ts';

const HINTS: Readonly<Record<CallLimit, string>> = {
  rpm_limit: 'Calls started per minute. They can all start at once; capacity refills evenly over the minute.',
  tpm_limit:
    'Uncached input, cache writes and output. A call counts its estimate when it starts and its actual tokens when it ends.',
  max_parallel_requests: 'Calls in flight, including streams.',
};

/** Fields for the three limits of calls of a key, or of an account. */
export function CallLimitFields(props: {
  texts: CallLimitTexts;
  onTexts: (texts: CallLimitTexts) => void;
  errorAt: (name: CallLimit) => string | undefined;
}) {
  const { texts } = props;
  return CALL_LIMITS.map((name) => (
    <TextField
      key={name}
      name={name}
      label={rowAt(name).label}
      hint={HINTS[name]}
      error={props.errorAt(name)}
      value={texts[name]}
      onValue={(text) => props.onTexts({ ...texts, [name]: text })}
      input={{ inputMode: 'numeric' }}
    />
  ));
}
