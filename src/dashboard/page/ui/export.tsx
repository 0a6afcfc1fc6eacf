import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { askRaw } from '../data/client.ts';
import { wordsOf } from '../data/failure-words.ts';
import { useScope } from '../session/scope.ts';
import { announce } from './announce.tsx';

const FORMATS = { csv: 'CSV', jsonl: 'JSON lines' } as const;
type Format = keyof typeof FORMATS;

/**
 * Button that saves all of a list, as it is filtered, to a file. `path` is that of the list with its filters; `file` is
 * the name without its ending.
 */
export function Export({
  path,
  file,
  formats = ['csv'],
}: {
  path: string;
  file: string;
  formats?: readonly Format[];
}) {
  const { accountHeader } = useScope();
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const query = path.includes('?') ? '&' : '?';
      const response = await askRaw(`${path}${query}format=${format}`, { account: accountHeader });
      saveFile(await response.blob(), `${file}.${format}`);
    },
    onSuccess: () => announce('Exported.'),
    onError: (error) => announce(wordsOf(error)),
  });
  const [only] = formats;
  if (formats.length === 1 && only) {
    return (
      <Button variant="default" loading={save.isPending} onClick={() => save.mutate(only)}>
        Export {FORMATS[only]}
      </Button>
    );
  }
  return (
    <Menu transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default" loading={save.isPending}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map((format) => (
          <Menu.Item key={format} onClick={() => save.mutate(format)}>
            {FORMATS[format]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Saves content as a file. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // After 10 s, when the browser has surely started to save.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
