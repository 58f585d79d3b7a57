// What JSX becomes in the bundle of the card.
export { Fragment, h } from 'preact';
