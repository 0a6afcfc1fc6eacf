/** Saves fetched data as a file. A link could not be used: the key goes in a header, which links do not send. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has started to save by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
