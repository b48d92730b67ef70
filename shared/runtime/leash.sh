# sh leash.sh SIGNAL process|group COMMAND [ARGUMENTS...]
#
# Becomes the command, which ends with whoever started it, however that one ends. Descriptor 3 is a pipe from the starter: a line on it says
# that the command has ended and nothing is left to do, its end without a line that the starter is gone. Then the process, or its whole group,
# gets the signal. The watcher is there before the command is, so no crash can fall between the two.
signal=$1
case $2 in
  group) target=-$$ ;;
  *) target=$$ ;;
esac
shift 2
# Twice in the background: the watcher is no child of the command, which might wait for all its children.
(
  (
    trap '' HUP INT QUIT TERM
    read -r released <&3 || kill -s "$signal" -- "$target"
  ) </dev/null >/dev/null 2>&1 &
)
exec 3<&-
exec "$@"
