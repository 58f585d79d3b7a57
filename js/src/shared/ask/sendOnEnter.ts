/** Submits the field's form: in a notebook the browser does not do so by itself. */
export function sendOnEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter' && !event.isComposing) {
    event.preventDefault();
    (event.currentTarget as HTMLInputElement).form?.requestSubmit();
  }
}
