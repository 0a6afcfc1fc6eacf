import { Type } from './docs/json-type.ts';
import { csvEntry, csvHeader } from './ledger-csv.ts';
import { ENTRY_EXAMPLE, EntryPage } from './ledger-schema.ts';

/** What `GET /api/account/ledger/` answers: a page of JSON, or one of the two exports. */
export const LedgerAnswer = {
  description: 'A page, or with `format` the export.',
  headers: {
    'content-disposition': {
      type: 'string',
      description: 'Of an export: the name of the file.',
      examples: ['attachment; filename="ledger.csv"'],
    },
  },
  content: {
    'application/json': { schema: EntryPage },
    'text/csv': {
      schema: Type.String({ description: 'A line of names, then a line for each entry; lines end in CRLF.' }),
      examples: { export: { value: `${csvHeader()}${csvEntry(ENTRY_EXAMPLE)}` } },
    },
    'application/x-ndjson': {
      schema: Type.String({ description: 'A line of JSON for each entry.' }),
      examples: { export: { value: `${JSON.stringify(ENTRY_EXAMPLE)}\n` } },
    },
  },
};
