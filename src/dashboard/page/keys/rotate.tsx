import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { KeyView, RotatedKeyView } from '../../../api/keys/key-view.ts';
import { MOST_GRACE_S } from '../../../domain/rotation.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { wordsOf } from '../data/failure-words.ts';
import { useChange } from '../data/query.ts';
import { readWhole } from '../format/read-whole.ts';
import { moment } from '../format/time.ts';
import { useZone } from '../format/zone.ts';
import { useScope } from '../session/scope.ts';
import { Dialog } from '../ui/confirm.tsx';
import { Time } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { ChangedMeanwhile } from './deactivate.tsx';
import { isOwnKey, useKeyApi, useOnSeen } from './key-api.ts';
import { ShownOnce } from './shown-once.tsx';

const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof UNITS;

const CHOICES = [
  { value: '0', label: 'None: ends immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '24 hours' },
  { value: '604800', label: '7 days' },
  { value: 'own', label: 'Custom' },
];

/** How long the current value stays valid: a choice, or `own` for a length of time that is typed. */
interface Grace {
  readonly chosen: string;
  readonly amount: string;
  readonly unit: Unit;
}

/** A day, in which clients can be changed over one after the other. */
const A_DAY: Grace = { chosen: '86400', amount: '', unit: 'hours' };
const LOST = 'The new value is shown only once. If you do not save it now, you have to rotate the key again.';

/** Dialog that gives a key a new value and shows it once. It asks again if the key was changed meanwhile. */
export function RotateDialog({ of, onClose }: { of: KeyView; onClose: () => void }) {
  const scope = useScope();
  const api = useKeyApi(of.id);
  const { seen, before, act } = useOnSeen(of, api);
  const [grace, setGrace] = useState(A_DAY);
  const [fault, setFault] = useState('');
  const [rotated, setRotated] = useState<RotatedKeyView>();
  const field = useRef<HTMLInputElement>(null);
  const isOwn = isOwnKey(scope, of);
  const rotation = useChange(async (seconds: number) => {
    const answer = await act((key) => api.rotate(seconds, key));
    if (answer === undefined) return;
    // Comes first, because the session ends with the present value, or may only read until then.
    if (isOwn) await ask('/api/session/', { method: 'POST', body: { key: answer.key } });
    setRotated(answer);
  });
  if (rotated) {
    const until = rotated.previous_valid_until;
    return (
      <ShownOnce title={`The new value of “${of.name}”`} of={rotated} lost={LOST} onDone={onClose}>
        <p>
          {until === null ? (
            'The previous value is no longer valid.'
          ) : (
            <>
              The previous value is valid until <Time at={until} seconds />.
            </>
          )}
          {isOwn && ' You are now signed in with the new value.'}
        </p>
      </ShownOnce>
    );
  }
  const change = (part: Partial<Grace>) => {
    setFault('');
    setGrace({ ...grace, ...part });
  };
  const rotate = () => {
    try {
      rotation.mutate(secondsOf(grace));
    } catch (error) {
      setFault(wordsOf(error));
      field.current?.focus();
    }
  };
  return (
    <Dialog title={before ? 'This key was changed' : `Rotate “${of.name}”?`} onCancel={onClose}>
      <form
        noValidate
        className="fields"
        onSubmit={(event) => {
          event.preventDefault();
          rotate();
        }}
      >
        {before && <ChangedMeanwhile before={before} now={seen} done="rotated" />}
        <p>The key gets a new value, which is shown once. Its settings, spend and ledger do not change.</p>
        <NativeSelect
          label="Grace period for the current value"
          value={grace.chosen}
          data={CHOICES}
          onChange={(event) => change({ chosen: event.currentTarget.value })}
        />
        {grace.chosen === 'own' && (
          <div className="pair">
            <TextInput
              ref={field}
              name="grace_seconds"
              label="Duration"
              description={`At most ${MOST_GRACE_S / UNITS.days} days.`}
              inputMode="numeric"
              autoComplete="off"
              value={grace.amount}
              error={fault}
              onChange={(event) => change({ amount: event.currentTarget.value })}
            />
            <NativeSelect
              label="Unit"
              description="Of the duration."
              value={grace.unit}
              data={Object.keys(UNITS)}
              onChange={(event) => change({ unit: event.currentTarget.value as Unit })}
            />
          </div>
        )}
        <Consequences of={seen} seconds={secondsSoFar(grace)} isOwn={isOwn} />
        <Failure error={rotation.error} />
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color={before ? 'red' : 'blue'} loading={rotation.isPending}>
            {before ? 'Rotate anyway' : 'Rotate'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Seconds of a grace. Throws an ApiFailure for text that is no length of time. */
function secondsOf({ chosen, amount, unit }: Grace): number {
  if (chosen !== 'own') return Number(chosen);
  const most = Math.floor(MOST_GRACE_S / UNITS[unit]);
  return readWhole(`The number of ${unit}`, amount, 'grace_seconds', most) * UNITS[unit];
}

/** Seconds of a grace; undefined while the typed text is no length of time. */
function secondsSoFar(grace: Grace): number | undefined {
  try {
    return secondsOf(grace);
  } catch (error) {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  }
}

/** What a rotation with this grace does. */
function Consequences({
  of: { previous_valid_until: older, is_active },
  seconds,
  isOwn,
}: {
  of: KeyView;
  seconds: number | undefined;
  isOwn: boolean;
}) {
  const zone = useZone();
  const endsAt = () => {
    const at = new Date(Date.now() + Number(seconds) * 1_000).toISOString();
    return `${moment(at, zone, Number(seconds) < 3_600)}${zone === 'utc' ? ' UTC' : ''}`;
  };
  return (
    <div aria-live="polite">
      {seconds !== undefined && (
        <p>
          {seconds === 0
            ? 'The current value stops working at every gateway as soon as the key is rotated.'
            : `Both values work until ${endsAt()} and count as one key. Then the current one stops working at every gateway.`}
        </p>
      )}
      {older !== null && (
        <p>
          <strong>The previous value, which is still valid, ends immediately</strong>: a key has two values at
          most.
        </p>
      )}
      {!is_active && <p>The key stays inactive. If you reactivate it, only the new value works.</p>}
      {isOwn && (
        <p>
          <strong>You are signed in with this key.</strong> This browser goes on with the new value; others
          {seconds === 0 ? ' are' : ', after that time, are'} signed out.
        </p>
      )}
    </div>
  );
}
