import { Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { hasRightLength, PASSWORD } from '../../../domain/password-length.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { fieldOf, wordsOf } from '../data/failure-words.ts';
import { Failure } from '../ui/note.tsx';

type Check = (text: string) => string | null;

/** Check of a text that must be given. */
export const given =
  (what: string): Check =>
  (text) =>
    text.trim() === '' ? `Enter ${what}.` : null;

/** Check of a new password. */
export const newPassword: Check = (text) =>
  hasRightLength(text) ? null : `The password must have ${PASSWORD.least} to ${PASSWORD.most} characters.`;

/**
 * A form of a few texts, which `send` sends. A text that is wrong, and a refusal that names a field, is shown at the field,
 * which gets the focus; any other refusal above the button. `byCode`: fields of refusals that name none.
 */
export function useTexts<Name extends string>(
  checks: Readonly<Record<Name, Check | undefined>>,
  send: (texts: Record<NoInfer<Name>, string>) => Promise<unknown>,
  {
    initial = {},
    byCode = {},
  }: { initial?: Partial<Record<NoInfer<Name>, string>>; byCode?: Record<string, NoInfer<Name>> } = {},
) {
  const names = Object.keys(checks) as Name[];
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const form = useForm<Record<string, string>>({
    initialValues: Object.fromEntries(names.map((name) => [name, initial[name] ?? ''])),
    validate: Object.fromEntries(names.map((name) => [name, checks[name] ?? (() => null)])),
  });
  const focus = (name: string | undefined) => name !== undefined && form.getInputNode(name)?.focus();
  const submit = form.onSubmit(
    async (texts) => {
      if (isBusy) return;
      setBusy(true);
      setFailure(undefined);
      try {
        await send(texts as Record<Name, string>);
      } catch (error) {
        const code = error instanceof ApiFailure ? error.code : '';
        const name = fieldOf(error, names) ?? byCode[code];
        if (name === undefined) return setFailure(error);
        form.setFieldError(name, wordsOf(error));
        focus(name);
      } finally {
        setBusy(false);
      }
    },
    (errors) => focus(names.find((name) => errors[name])),
  );
  return {
    form: { isBusy, failure, onSubmit: submit },
    field: (name: Name) => ({ name, key: form.key(name), ...form.getInputProps(name) }),
    reset: form.reset,
  };
}

/** The form of `useTexts`, with its button. */
export function TextsForm(props: {
  isBusy: boolean;
  failure: unknown;
  onSubmit: (event: SubmitEvent<HTMLFormElement>) => void;
  verb: string;
  children: ReactNode;
}) {
  return (
    <form className="form" noValidate onSubmit={props.onSubmit}>
      {props.children}
      <Failure error={props.failure} />
      <div>
        <Button type="submit" loading={props.isBusy}>
          {props.verb}
        </Button>
      </div>
    </form>
  );
}
