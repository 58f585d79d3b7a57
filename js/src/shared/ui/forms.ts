/** Submits the field's form: in a notebook the browser does not do so by itself. */
export function sendOnEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter' && !event.isComposing) {
    event.preventDefault();
    (event.currentTarget as HTMLInputElement).form?.requestSubmit();
  }
}

/** Does this when the form is submitted, and does not leave the page for it. */
export function submitting(send: () => void): (event: Event) => void {
  return event => {
    event.preventDefault();
    send();
  };
}
