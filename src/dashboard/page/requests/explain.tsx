import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { CheckView, ExplanationView } from '../../../api/explain/explanation-view.ts';
import { CALLER_FACTS, type CallerFact, eachFact } from '../../../domain/caller-facts.ts';
import { fieldAt, keyField, rowAt, WIRE_NAMES } from '../../../domain/key-settings.ts';
import { ask } from '../data/client.ts';
import { fieldOf, wordsOf } from '../data/failure-words.ts';
import { read } from '../data/query.ts';
import { countryName } from '../format/countries.ts';
import { fromInput, zoneName } from '../format/time.ts';
import { useZone } from '../format/zone.ts';
import { useScope } from '../session/scope.ts';
import { Time } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { Loading } from '../ui/shown.tsx';
import type { ListedCall } from './columns.tsx';

/** A call to explain, as the API takes it; the schema in the API would pull the gateway into the page. */
export type Question = {
  readonly model: string;
  readonly endpoint?: string;
  readonly at?: string;
} & { readonly [F in CallerFact]?: string };

/** Model of a question about a call that was refused before its model was known. The checks up to there need none. */
const NO_MODEL = '-';

/** Display names of the checks, by their names in the API. */
const CHECK_NAMES: Readonly<Record<string, string>> = {
  authorization: 'Key is sent',
  known_key: 'Key is known',
  is_active: 'Key is active',
  account_active: 'Account is active',
  request: 'Model and endpoint',
  member_spending_limits: "Member's spending limits",
  account_spending_limits: "Account's spending limits",
  credits: 'Credits',
  ...Object.fromEntries(
    WIRE_NAMES.map(rowAt).flatMap((row) => (row.restricts ? [[row.wire, row.check]] : [])),
  ),
};

/** Details of failed checks that the API words for whoever sends the call. */
const FAILED: Readonly<Record<string, string>> = {
  allowed_models: 'The key cannot call this model.',
  allowed_categories: 'The key cannot call models of this modality.',
};

/** Facts that are shown otherwise than the API has them. */
const SHOWN: Readonly<Partial<Record<CallerFact, (value: string) => string>>> = { country: countryName };

interface Asked {
  readonly keyId: number;
  /** Account of the key, for the operator's pages over all accounts. */
  readonly accountId?: number | undefined;
}

/** The gateway's answer to a question, asked at once. A change of the key asks again. */
function useExplanation({ keyId, accountId }: Asked, question: Question | undefined) {
  const scope = useScope();
  const keys = accountId === undefined ? scope.keysApi : `/api/admin/accounts/${accountId}/keys/`;
  const path = `${keys}${keyId}/explain/`;
  return useQuery({
    queryKey: [scope.path, path, question],
    queryFn: ({ signal }) =>
      ask<ExplanationView>(path, { method: 'POST', body: question, signal, account: scope.accountHeader }),
    enabled: question !== undefined,
  });
}

/** Button that explains a refused call with the facts of its time. */
export function Refusal({ of: call }: { of: ListedCall }) {
  const scope = useScope();
  const [isOpen, setOpen] = useState(false);
  if (!scope.can('explain calls')) return null;
  return (
    <>
      <p className="actions panel-actions">
        <Button size="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Explain
        </Button>
      </p>
      {isOpen && <RefusedThen call={call} />}
    </>
  );
}

function RefusedThen({ call }: { call: ListedCall }) {
  const scope = useScope();
  const { model, endpoint, detail, created_at, code } = call;
  const facts = eachFact((fact) => detail?.[fact] ?? undefined);
  const question: Question = {
    model: model ?? NO_MODEL,
    ...(endpoint !== null && { endpoint }),
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
    at: created_at,
  };
  const accountId = scope.kind === 'operator' ? call.account_id : undefined;
  const asked = useExplanation({ keyId: call.key_id ?? 0, accountId }, question);
  if (asked.isPending) return <Loading />;
  if (!asked.data) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  // The country follows from the address.
  const isKnown = (fact: CallerFact) =>
    detail?.[fact] !== undefined || (fact === 'country' && facts.ip !== undefined);
  const all = asked.data.checks;
  const upToModel =
    model === null
      ? all.slice(
          0,
          all.findIndex(({ check }) => check === 'request'),
        )
      : all;
  const checks = upToModel.map((check): CheckView => {
    const fact = factOf(check.check);
    if (fact === undefined || isKnown(fact)) return check;
    const words = `Not in the record: ${CALLER_FACTS[fact].label.toLowerCase()}.`;
    return { ...check, state: 'not_checked', passed: true, detail: words };
  });
  const deciding = checks.find(({ passed }) => !passed);
  const isSame = deciding !== undefined && asked.data.code === code;
  return (
    <section className="call-parts" aria-label="Explanation">
      <h3 className={deciding ? 'verdict-bad' : 'verdict-good'}>
        {isSame && 'Why the call was refused'}
        {!isSame && deciding && <>Now the call would be refused by another check</>}
        {!deciding && 'The gateway would accept this call now'}
      </h3>
      <p className="hint panel-actions">
        {!deciding && 'What refused it has changed since, or is not in the record. '}
        Time and caller are those of the call; credits, spend and limits are those of now.
      </p>
      <Checks
        of={checks}
        mark={isSame ? 'This check refused the call' : 'This check would refuse the call'}
        explanation={asked.data}
        at={created_at}
      />
    </section>
  );
}

/** Form that asks whether a call with a key would be accepted, with the answer below it. */
export function Explain(key: Asked) {
  const zone = useZone();
  const [question, setQuestion] = useState<Question>();
  const [model, setModel] = useState('');
  const asked = useExplanation(key, question);
  const models = useModels();
  const list = useId();
  const refused = fieldOf(asked.error, ['model', 'endpoint', 'ip', 'origin', 'at']);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].flatMap(([name, value]) => {
      const text = String(value).trim();
      if (name === 'at') return text === '' ? [] : [[name, fromInput(text, zone) ?? text]];
      return text === '' && name !== 'model' ? [] : [[name, text]];
    });
    const next = Object.fromEntries(given) as Question;
    // Repeating a question asks for the present moment.
    if (JSON.stringify(next) === JSON.stringify(question)) void asked.refetch();
    else setQuestion(next);
  };
  const text = (name: 'ip' | 'origin') => (
    <TextInput
      name={name}
      label={CALLER_FACTS[name].label}
      placeholder={CALLER_FACTS[name].unasked}
      error={refused === name && wordsOf(asked.error)}
    />
  );
  const endpoints = models.find(({ id }) => id === model)?.endpoints ?? [];
  return (
    <>
      <form className="form" onSubmit={submit}>
        <TextInput
          name="model"
          label="Model"
          required
          list={list}
          spellCheck={false}
          value={model}
          onChange={(event) => setModel(event.currentTarget.value)}
          error={refused === 'model' && wordsOf(asked.error)}
        />
        <datalist id={list}>
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <NativeSelect
          name="endpoint"
          label="Endpoint"
          data={[{ value: '', label: 'First endpoint that serves the model' }, ...endpoints]}
          error={refused === 'endpoint' && wordsOf(asked.error)}
        />
        <div className="pair">
          {text('ip')}
          {text('origin')}
        </div>
        <TextInput
          name="at"
          type="datetime-local"
          label="Time"
          description={`In ${zone === 'utc' ? 'UTC' : `your time zone (${zoneName()})`}. Leave empty for now. Affects active hours and expiry only; credits are always those of now.`}
          error={refused === 'at' && wordsOf(asked.error)}
        />
        {refused === undefined && <Failure error={asked.error} />}
        <div>
          <Button type="submit" loading={asked.isFetching}>
            Explain
          </Button>
        </div>
      </form>
      <div aria-live="polite">
        {question && asked.data && (
          <section className="call-parts" aria-label="Explanation">
            <h3 className={asked.data.allowed ? 'verdict-good' : 'verdict-bad'}>
              {asked.data.allowed ? (
                'The call would be accepted'
              ) : (
                <>
                  The call would be refused: <code>{asked.data.code}</code>
                </>
              )}
            </h3>
            <Checks
              of={asked.data.checks}
              mark="This check refuses the call"
              explanation={asked.data}
              at={question.at ?? new Date(asked.dataUpdatedAt).toISOString()}
              isOwnAddress={question.ip === undefined}
            />
          </section>
        )}
      </div>
    </>
  );
}

/** Models with the endpoints that serve them. */
function useModels(): readonly { readonly id: string; readonly endpoints: readonly string[] }[] {
  type Listed = { readonly id: string; readonly endpoints: readonly string[] };
  const scope = useScope();
  const path = scope.kind === 'own' ? '/api/account/models/' : '/api/admin/models/';
  const { data } = useQuery(read<{ data?: readonly Listed[]; models?: readonly Listed[] }>(scope, path));
  return data?.data ?? data?.models ?? [];
}

const OUTCOMES = {
  passed: { sign: '✓', word: 'passed', kind: 'check-passed' },
  failed: { sign: '✕', word: 'failed', kind: 'check-failed' },
  not_checked: { sign: '–', word: 'not checked', kind: 'check-open' },
} as const;

/** The checks that failed, the one that decides first, and folded the others. */
function Checks({
  of: checks,
  mark,
  ...checked
}: {
  of: readonly CheckView[];
  mark: string;
  explanation: ExplanationView;
  /** Time of the call, in ISO 8601. */
  at: string;
  isOwnAddress?: boolean;
}) {
  const failed = checks.filter(({ passed }) => !passed);
  const [deciding] = failed;
  const others = checks.filter(({ passed }) => passed);
  const open = others.filter(({ state }) => state === 'not_checked').length;
  const item = (check: CheckView) => {
    const { sign, word, kind } = OUTCOMES[check.state];
    return (
      <li key={check.check} className={`check ${kind} ${check === deciding ? 'check-deciding' : ''}`}>
        <span className="check-sign" aria-hidden="true">
          {sign}
        </span>
        <div>
          <p className="check-name">
            {CHECK_NAMES[check.check] ?? check.check} <span className="check-word">{word}</span>
          </p>
          {check === deciding && (
            <p>
              <strong>{mark}</strong>
            </p>
          )}
          <p className="hint">{detailOf(check, checked)}</p>
        </div>
      </li>
    );
  };
  return (
    <>
      {failed.length > 0 && <ol className="checks">{failed.map(item)}</ol>}
      {others.length > 0 && (
        <details>
          <summary>
            {others.length - open} passed{open > 0 && `, ${open} not checked`}
          </summary>
          <ol className="checks">{others.map(item)}</ol>
        </details>
      )}
    </>
  );
}

/** Fact of the caller that a check compares; undefined if it compares none. */
function factOf(check: string): CallerFact | undefined {
  const field = fieldAt(check);
  const row = field && keyField(field);
  return row?.restricts === 'caller' ? row.reads?.at(-1) : undefined;
}

/** The reason for the result of a check: of those about the caller, from the fields of the answer. */
function detailOf(
  { check, state, detail }: CheckView,
  {
    explanation,
    at,
    isOwnAddress = false,
  }: { explanation: ExplanationView; at: string; isOwnAddress?: boolean },
): ReactNode {
  const fact = factOf(check);
  if (fact !== undefined && state !== 'not_checked') {
    const value = explanation.caller[fact];
    const shown = value && (SHOWN[fact]?.(value) ?? value);
    return CALLER_FACTS[fact].checked(
      fact === 'ip' && isOwnAddress && shown ? `your address ${shown}` : shown,
    );
  }
  const field = fieldAt(check);
  if (field && keyField(field).restricts === 'caller' && fact === undefined) {
    return (
      <>
        Checked at <Time at={at} seconds />.
      </>
    );
  }
  return (state === 'failed' ? FAILED[check] : undefined) ?? detail;
}
