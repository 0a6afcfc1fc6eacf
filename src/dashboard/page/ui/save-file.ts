/** Saves fetched data as a file. A plain link would not do, because the key goes in a header, which links do not send. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // After 10 s, when the browser has surely started to save.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
