import { Button } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiFailure } from '../data/api-failure.ts';
import { fieldOf, wordsOf } from '../data/failure-words.ts';
import { useChange } from '../data/query.ts';
import { announce } from './announce.tsx';
import { Confirm, Dialog } from './confirm.tsx';
import { Failure, Note } from './note.tsx';
import type { ReadDraft } from './read-fields.ts';
import { Table } from './table.tsx';
import { Unsaved } from './unsaved.tsx';
import '../style/edit.css';

/** A question before a save whose consequences are easily overlooked. */
export interface Question {
  readonly title: string;
  readonly verb: string;
  readonly content: ReactNode;
}

/** What is edited, and how it is read and saved. Fields of the draft have the names of the API. */
export interface EditOptions<Stored, Draft extends object, Body extends object> {
  /** Name of what is edited: "key". */
  readonly what: string;
  /** Labels of the fields that the form shows, in its order. */
  readonly labels: Readonly<Record<string, string>>;
  readonly stored: Stored;
  draftOf(stored: Stored): Draft;
  read(draft: Draft): ReadDraft<Body>;
  /** Sends the changed fields. Resolves with what is stored now; undefined ends the edit, as after a creation. */
  send(changes: Partial<Body>, base: Stored): Promise<Stored | undefined>;
  /** Reads what is stored now, so that no other editor's change is overwritten; absent for what is created. */
  reread?(): Promise<Stored>;
  /** Choice of the address that opens the form, if it is in a panel: `member`. */
  readonly choice?: string;
  /** True if the gateway refuses a stale change with `version_conflict`; otherwise it is read again before each save. */
  readonly isVersioned?: boolean;
  /** Asks before the save, if it resolves with a question. */
  ask?(changes: Partial<Body>, base: Stored): Promise<Question | undefined>;
  /** A field's value in words, for the table of a conflict. */
  words?(field: string, value: unknown): string;
  /** Field that shows the refusal of another: `spending_limits` for `spending_limit`. */
  readonly shownAt?: Readonly<Record<string, string>>;
}

interface Difference {
  readonly label: string;
  readonly mine: string;
  readonly theirs: string;
}

/** An edit under way, for `EditForm` and its fields. */
export interface Edit<Draft extends object> {
  readonly form: UseFormReturnType<Draft>;
  readonly labels: Readonly<Record<string, string>>;
  readonly isNew: boolean;
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  /** Why the last save failed, unless a field shows it. */
  readonly failure: unknown;
  /** Props of the field's input: value, change, fault, name. */
  input(field: keyof Draft & string): Record<string, unknown>;
  /** The same for a checkbox or switch. */
  tick(field: keyof Draft & string): Record<string, unknown>;
  /** Saves, unless a field is wrong; resolves with the name of what needs attention: a field, or `alert`. */
  save(): Promise<string | undefined>;
  /** Shows the fault of a field that was left, if it has one. */
  check(field: string): void;
  /** Marks a field whose date or number is only partly typed, which browsers give as "". */
  setHalf(field: string, isHalf: boolean): void;
  readonly dialogs: ReactNode;
}

const HALF_TYPED = 'This is incomplete. Complete or clear it.';

/**
 * Edits what is stored in a draft: only changed fields are sent, another editor's changes are never overwritten without
 * a question, refusals are shown at their fields.
 */
export function useEdit<Stored, Draft extends object, Body extends object>(
  options: EditOptions<Stored, Draft, Body>,
): Edit<Draft> {
  const { labels, stored, draftOf, reread, shownAt = {} } = options;
  const isNew = reread === undefined;
  const [base, setBase] = useState(stored);
  const [theirs, setTheirs] = useState<Stored>();
  const [question, setQuestion] = useState<Question>();
  const [halves, setHalves] = useState<readonly string[]>([]);
  const [isDone, setDone] = useState(false);
  const form = useForm<Draft>({
    initialValues: draftOf(stored),
    validate: (draft) => options.read(draft).faults as never,
  });
  const draft = form.getValues();
  const bodyOf = (of: Stored) => options.read(draftOf(of)).body;
  const before = bodyOf(base);
  const changes = changedFields(before, options.read(draft).body);
  const isChanged = !isDone && (halves.length > 0 || !isEqual(draft, draftOf(base)));

  const fill = (from: Stored) => {
    setBase(from);
    form.setValues(draftOf(from));
    form.clearErrors();
  };
  useEffect(() => {
    if (!isNew && !isChanged) fill(stored);
  }, [stored]);

  const adopt = (saved: Stored | undefined) => {
    setTheirs(undefined);
    setQuestion(undefined);
    if (saved === undefined) return setDone(true);
    // Shows what is stored: normalized, and with the fields that the gateway decided.
    fill(saved);
    announce(`Saved the ${options.what}.`);
  };
  const isSame = (one: Stored, other: Stored) => isEqual(bodyOf(one), bodyOf(other));
  const send = async (known: Stored): Promise<void> => {
    const now = reread && !options.isVersioned ? await reread() : known;
    if (!isSame(known, now)) return setTheirs(now);
    try {
      adopt(await options.send(changes, now));
    } catch (error) {
      if (!reread || !(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
      const newer = await reread();
      // Only something else of it has changed, which the form does not show.
      if (isSame(known, newer)) return send(newer);
      setQuestion(undefined);
      setTheirs(newer);
    }
  };
  const change = useChange(send);
  const save = async (): Promise<string | undefined> => {
    if (!isNew && !isChanged) return undefined;
    const { errors } = form.validate();
    for (const field of halves) form.setFieldError(field, HALF_TYPED);
    const wrong = Object.keys(labels).find((field) => halves.includes(field) || errors[field]);
    if (wrong !== undefined) return wrong;
    try {
      if (!isNew && Object.keys(changes).length === 0) return fill(base) as undefined;
      const asked = await options.ask?.(changes, base);
      if (asked) setQuestion(asked);
      else await change.mutateAsync(base);
      return undefined;
    } catch (error) {
      const field = refusedField(error, labels, shownAt);
      if (field === undefined) return 'alert';
      form.setFieldError(field, wordsOf(error));
      return field;
    }
  };
  const { error } = change;
  return {
    form,
    labels,
    isNew,
    isChanged,
    isBusy: change.isPending,
    failure: error !== null && refusedField(error, labels, shownAt) === undefined ? error : null,
    input: (field) => ({ ...form.getInputProps(field as never), name: field }),
    tick: (field) => ({ ...form.getInputProps(field as never, { type: 'checkbox' }), name: field }),
    save,
    check: (field) => {
      const fault = options.read(form.getValues()).faults[field];
      if (fault !== undefined) form.setFieldError(field, fault);
    },
    setHalf: (field, isHalf) => {
      if (isHalf !== halves.includes(field))
        setHalves(isHalf ? [...halves, field] : halves.filter((one) => one !== field));
    },
    dialogs: (
      <>
        {question && (
          <Confirm
            title={question.title}
            verb={question.verb}
            danger
            act={() => send(base)}
            onClose={() => setQuestion(undefined)}
          >
            {question.content}
          </Confirm>
        )}
        {theirs !== undefined && (
          <Conflict
            what={options.what}
            differences={differencesOf(options, changes, before, bodyOf(theirs))}
            onKeepTheirs={() => adopt(theirs)}
            saveMine={() => send(theirs)}
            onClose={() => setTheirs(undefined)}
          />
        )}
        <Unsaved when={isChanged} {...(options.choice && { choice: options.choice })} />
      </>
    ),
  };
}

/** The field that shows a refusal; undefined if none does. */
function refusedField(
  error: unknown,
  labels: Readonly<Record<string, string>>,
  shownAt: Readonly<Record<string, string>>,
): string | undefined {
  const named = fieldOf(error, [...Object.keys(labels), ...Object.keys(shownAt)]);
  return named && (shownAt[named] ?? named);
}

function changedFields<Body extends object>(before: Partial<Body>, now: Partial<Body>): Partial<Body> {
  const changed = Object.entries(now).filter(
    ([field, value]) => !isEqual(value, before[field as keyof Body]),
  );
  return Object.fromEntries(changed) as Partial<Body>;
}

function differencesOf<Body extends object>(
  { labels, words = plainWords }: Pick<EditOptions<unknown, object, Body>, 'labels' | 'words'>,
  changes: Partial<Body>,
  before: Partial<Body>,
  theirs: Partial<Body>,
): Difference[] {
  return (Object.keys(theirs) as (keyof Body & string)[]).flatMap((field) => {
    const isMine = field in changes;
    if (isEqual(isMine ? changes[field] : before[field], theirs[field])) return [];
    const mine = isMine ? words(field, changes[field]) : 'not changed by you';
    return [{ label: labels[field] ?? field, mine, theirs: words(field, theirs[field]) }];
  });
}

function plainWords(_: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === null || value === '' ? 'none' : String(value);
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Form of an edit with its bar for saving, which names the fields that are wrong and leads to each. `onFault` shows the
 * part of the page that has a field.
 */
export function EditForm<Draft extends object>({
  of: edit,
  verb = 'Save changes',
  hint,
  failure,
  onFault,
  children,
}: {
  of: Edit<Draft>;
  verb?: string;
  /** What saving does, shown beside the button. */
  hint: string;
  /** Shown if saving failed, instead of the message. */
  failure?: ReactNode;
  onFault?: (field: string) => void;
  children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  /** What is to get the focus as soon as it is drawn. */
  const wanted = useRef<string>(undefined);
  const [, redraw] = useState(0);
  useEffect(() => {
    if (wanted.current !== undefined && focusOn(form.current, wanted.current)) wanted.current = undefined;
  });
  const lead = (to: string) => {
    wanted.current = to;
    if (to !== 'alert') onFault?.(to);
    redraw((count) => count + 1);
  };
  const seeHalf = ({ target }: { target: EventTarget }) => {
    if (target instanceof HTMLInputElement) edit.setHalf(target.name, target.validity.badInput);
  };
  const faults = Object.keys(edit.labels).filter((field) => edit.form.errors[field]);
  const isFaulty = faults.length > 0 || edit.failure !== null;
  const words = isFaulty ? 'Not saved.' : edit.isNew || edit.isChanged ? hint : 'No changes.';
  return (
    <>
      <form
        ref={form}
        className="edit"
        noValidate
        onKeyUp={seeHalf}
        onBlur={(event) => {
          seeHalf(event);
          // Sending checks every field anyway; a fault that appears now would move the button away under the pointer.
          const isSending =
            event.relatedTarget instanceof HTMLButtonElement && event.relatedTarget.type === 'submit';
          const field = event.target.closest<HTMLElement>('[data-path]')?.dataset.path;
          if (!isSending && field !== undefined) edit.check(field);
        }}
        onSubmit={async (event) => {
          event.preventDefault();
          const fault = await edit.save();
          if (fault !== undefined) lead(fault);
        }}
      >
        {children}
        <div className="save-bar">
          {edit.failure !== null && (failure ?? <Failure error={edit.failure} />)}
          <Button type="submit" loading={edit.isBusy} aria-disabled={!edit.isNew && !edit.isChanged}>
            {verb}
          </Button>
          <span className="hint">{words}</span>
          {faults.length > 0 && (
            <span className="faults">
              Correct:{' '}
              {faults.map((field) => (
                <button key={field} type="button" className="link" onClick={() => lead(field)}>
                  {edit.labels[field]}
                </button>
              ))}
            </span>
          )}
        </div>
      </form>
      {edit.dialogs}
    </>
  );
}

const CONTROLS = 'input:not([type="hidden"]), textarea, select, button';

/** Focuses a field of a form, or its `alert`; false if it is not drawn yet. */
function focusOn(form: HTMLFormElement | null, what: string): boolean {
  const selector = what === 'alert' ? '[role="alert"]' : `[name="${what}"], [data-path="${what}"]`;
  const found = form?.querySelector<HTMLElement>(selector);
  if (!found) return false;
  const folded = found.closest('details');
  if (folded) folded.open = true;
  const control =
    what === 'alert' || found.matches(CONTROLS) ? found : found.querySelector<HTMLElement>(CONTROLS);
  control?.focus({ preventScroll: true });
  control?.scrollIntoView({ block: 'center' });
  return true;
}

/** Question about something that was saved elsewhere while its form was open: whose settings to keep. */
function Conflict({
  what,
  differences,
  onKeepTheirs,
  saveMine,
  onClose,
}: {
  what: string;
  differences: readonly Difference[];
  onKeepTheirs: () => void;
  saveMine: () => Promise<void>;
  onClose: () => void;
}) {
  const save = useChange(saveMine);
  return (
    <Dialog title={`This ${what} was changed`} onCancel={onClose} size="lg">
      <Note kind="warning">
        <p>
          It was saved in another session or tab after you loaded this page. Your changes are not saved yet.
        </p>
      </Note>
      {differences.length > 0 && (
        <Table
          label="What differs"
          columns={[
            { id: 'setting', title: 'Setting', cell: ({ label }) => label },
            { id: 'mine', title: 'Yours', cell: ({ mine }) => mine },
            { id: 'theirs', title: 'Saved', cell: ({ theirs }) => theirs },
          ]}
          rows={differences}
          rowKey={({ label }) => label}
        />
      )}
      <p>Fields that you did not change keep their saved values.</p>
      <Failure error={save.error} />
      <div className="dialog-actions">
        <Button variant="default" onClick={onClose}>
          Back to the form
        </Button>
        <Button variant="default" onClick={onKeepTheirs}>
          Discard mine
        </Button>
        <Button color="red" loading={save.isPending} onClick={() => save.mutate()}>
          Save mine
        </Button>
      </div>
    </Dialog>
  );
}
