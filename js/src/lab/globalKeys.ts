/**
 * Cards keep keys from Lab, or the letter D twice would delete their cell. What is pressed with
 * Ctrl or Cmd may still be meant for Lab as a whole, like saving: it is shown to Lab once more as
 * if nothing had the focus, so that no command of a notebook takes it.
 */
export function passOnGlobalKeys(node: HTMLElement): void {
  node.addEventListener('keydown', event => {
    const isKept = (event.target as Element).closest('[data-lm-suppress-shortcuts]') !== null;
    if (!isKept || event.defaultPrevented || !(event.ctrlKey || event.metaKey)) {
      return;
    }
    if (!document.body.dispatchEvent(new KeyboardEvent('keydown', event))) {
      event.preventDefault();
    }
  });
}
