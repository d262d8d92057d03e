# zsh -f complete.zsh SCRIPT LINE: what zsh offers after LINE and TAB, one word a line, with the completion of SCRIPT.
# A shell on a terminal of its own is needed: completion works nowhere else.
if [[ $3 == inner ]]; then
    PROMPT=
    autoload -U compinit
    compinit -u -D
    source $1
    compadd() {
        local -a offered
        if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
            builtin compadd -A offered "$@"
            (($#offered == 0)) || print -rl -- $offered >>offered.zsh
        fi
        builtin compadd "$@"
    }
    finish() {
        touch offered.done
        exit
    }
    comppostfuncs=(finish)
    return
fi
zmodload zsh/zpty
rm -f offered.zsh offered.done
touch offered.zsh
zpty shell zsh -f -i
zpty -w shell "source ${(q)0} ${(q)1} x inner"
zpty -n -w shell "$2"$'\t'
repeat 600; do # half a minute at the most
    zpty -r -t shell ignored
    [[ ! -e offered.done ]] || break
    sleep 0.05
done
zpty -d shell
cat offered.zsh
