import type { ComponentChildren, InputHTMLAttributes, Ref, VNode } from 'preact';

interface TextFieldProps extends Omit<InputHTMLAttributes, 'label' | 'onInput' | 'children'> {
  label: string;
  value: string;
  onText: (text: string) => void;
  field?: Ref<HTMLInputElement>;
  isSmall?: boolean;
  /** A hint below. */
  children?: ComponentChildren;
}

export function TextField(props: TextFieldProps): VNode {
  const { label, onText, field, isSmall, children, ...others } = props;
  return (
    <label class="cw-field">
      <span>{label}</span>
      <input
        type="text"
        class={isSmall ? 'cw-input cw-input-small' : 'cw-input'}
        {...others}
        {...(field ? { ref: field } : {})}
        onInput={event => onText(event.currentTarget.value)}
      />
      {children}
    </label>
  );
}
