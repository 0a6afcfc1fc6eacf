import { Button, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useRef, useState } from 'react';
import type { AccountView } from '../../../api/account/account-view.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { fieldOf, wordsOf } from '../data/failure-words.ts';
import { useChange } from '../data/query.ts';
import { readAmount } from '../format/read-amount.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { announce } from '../ui/announce.tsx';
import { Card } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { Unsaved } from '../ui/unsaved.tsx';

/** The alert threshold, which can be edited in place. */
export function Threshold({ of: { alert_threshold } }: { of: AccountView }) {
  const scope = useScope();
  const [isEdited, setEdited] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEdited(false);
    requestAnimationFrame(() => opener.current?.focus());
  };
  return (
    <Card title="Alert threshold">
      {isEdited ? (
        <ThresholdForm stored={alert_threshold} onClose={close} />
      ) : (
        <>
          <p className="alert-threshold">
            <Amount of={alert_threshold} />
          </p>
          {scope.can('change the threshold') && (
            <Button
              ref={opener}
              variant="default"
              aria-label="Change alert threshold"
              onClick={() => setEdited(true)}
            >
              Change
            </Button>
          )}
        </>
      )}
    </Card>
  );
}

function ThresholdForm({ stored, onClose }: { stored: number; onClose: () => void }) {
  const scope = useScope();
  const form = useForm({
    initialValues: { alert_threshold: String(stored) },
    validate: { alert_threshold: faultOf },
  });
  const change = useChange((alert_threshold: number) =>
    ask(scope.api, { method: 'PATCH', body: { alert_threshold }, account: scope.accountHeader }),
  );
  useEffect(() => (form.getInputNode('alert_threshold') as HTMLInputElement | null)?.select(), []);
  const save = form.onSubmit(
    ({ alert_threshold }) =>
      change.mutate(readAmount('The threshold', alert_threshold, 'alert_threshold'), {
        onSuccess: () => {
          announce('Alert threshold changed.');
          onClose();
        },
        onError: (error) => {
          if (fieldOf(error, ['alert_threshold'])) form.setFieldError('alert_threshold', wordsOf(error));
        },
      }),
    () => form.getInputNode('alert_threshold')?.focus(),
  );
  return (
    <form onSubmit={save} onKeyDown={({ key }) => key === 'Escape' && onClose()}>
      <Unsaved when={form.isDirty()} />
      <TextInput
        {...form.getInputProps('alert_threshold')}
        label="Alert threshold in credits"
        inputMode="decimal"
        autoComplete="off"
      />
      {!form.errors.alert_threshold && <Failure error={change.error} />}
      <div className="dialog-actions">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

function faultOf(text: string): string | null {
  try {
    readAmount('The threshold', text, 'alert_threshold');
    return null;
  } catch (error) {
    if (error instanceof ApiFailure) return error.message;
    throw error;
  }
}
