import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelView } from '../../../api/models/model-view.ts';
import { gatewayUrl } from '../base.ts';
import { ask } from '../data/client.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { CopyButton, CopyValue } from '../ui/copy.tsx';
import { Shown } from '../ui/shown.tsx';
import { byTestPrice } from './cheapest.ts';
import { SNIPPETS, snippetText } from './snippets.ts';
import { TestCall } from './test-call.tsx';

/**
 * How to use a key: base URL and snippets for its clients, with its `value` if it is new, and then with a test call.
 * `models`: those that the key may call; by default they are read.
 */
export function UseKey({ value, models }: { value?: string; models?: readonly ModelView[] }) {
  const scope = useScope();
  const read = useQuery({
    queryKey: [scope.path, 'models of a key', value ?? ''],
    queryFn: () => modelsOf(scope, value),
    enabled: models === undefined,
    // The value of a key is kept nowhere.
    gcTime: 0,
  });
  if (models) return <Snippets value={value} models={models} />;
  return <Shown of={read}>{(known) => <Snippets value={value} models={known} />}</Shown>;
}

/** Models that a new key may call, or else those that the session sees. */
async function modelsOf({ kind, accountHeader: account }: Scope, value?: string) {
  if (value !== undefined) {
    return (await ask<{ data: ModelView[] }>('/v1/models', { bearer: value })).data;
  }
  if (kind !== 'own') return (await ask<{ models: ModelView[] }>('/api/admin/models/')).models;
  return (await ask<{ data: ModelView[] }>('/api/account/models/', { account })).data;
}

function Snippets({ value, models }: { value: string | undefined; models: readonly ModelView[] }) {
  const { kind } = useScope();
  const [name, setName] = useState('curl');
  const [chosen, setChosen] = useState('');
  const snippet = SNIPPETS.find((one) => one.name === name) ?? SNIPPETS[0];
  const cheapest = byTestPrice(models, snippet.path);
  const model = cheapest.find(({ id }) => id === chosen) ?? cheapest[0];
  const text = snippetText(snippet, gatewayUrl(''), model?.id ?? 'model', value);
  // The keyboard scrolls what is wider than its box.
  const frame = { role: 'region', tabIndex: 0, 'aria-label': `Snippet for ${snippet.name}` };
  return (
    <div className="use-key">
      <p className="hint">
        Base URL (Anthropic clients take it without <code>/v1</code>)
      </p>
      <CopyValue label="Base URL" value={gatewayUrl('/v1')} />
      <div className="use-key-choices">
        <NativeSelect
          label="Client"
          size="xs"
          value={snippet.name}
          data={SNIPPETS.map((one) => one.name)}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {model && (
          <NativeSelect
            label="Model"
            size="xs"
            value={model.id}
            data={cheapest.map(({ id }) => id)}
            onChange={(event) => setChosen(event.currentTarget.value)}
          />
        )}
      </div>
      <div className="snippet">
        <pre {...frame}>
          <code>{text}</code>
        </pre>
        <CopyButton label={`${snippet.name} snippet`} value={text} />
      </div>
      <p className="hint">
        {snippet.hint}{' '}
        {value === undefined ? (
          <>
            It reads the key from the environment variable <code>TOLLGATE_API_KEY</code>.
          </>
        ) : (
          'It contains the key value.'
        )}
      </p>
      {!model && <p className="hint">This key can call no text model of this client.</p>}
      {/* What an operator makes for an account is not for the operator to spend. */}
      {value !== undefined && kind === 'own' && model && <TestCall value={value} model={model} />}
    </div>
  );
}
