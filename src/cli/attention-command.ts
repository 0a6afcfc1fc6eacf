import type { Command } from 'commander';
import type { OperatorAttentionView } from '../api/attention/attention-view.ts';
import { type RemoteOptions, remote } from './arguments.ts';
import { operatorApi } from './gateway-api.ts';
import { print, show } from './print.ts';

/** `tollgate attention`: what the operator should do something about. */
export function attentionCommand(program: Command): void {
  remote(program.command('attention'))
    .description('list what needs the attention of the operator, worst first')
    .action(attention);
}

async function attention(options: RemoteOptions): Promise<void> {
  const list = await operatorApi(options).call<OperatorAttentionView>('GET', '/api/admin/attention/');
  if (!options.json && list.items.length === 0) return print('Nothing needs attention.');
  show(
    options,
    list,
    [
      ['KIND', ({ kind }) => kind],
      ['SINCE', ({ since }) => since],
      ['MESSAGE', ({ message }) => message],
    ],
    list.items,
  );
  const more = list.total - list.items.length;
  if (!options.json && more > 0) print(`and ${more} more`);
}
