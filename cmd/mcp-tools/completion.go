package main

import (
	"github.com/spf13/cobra"
)

func completionCommand(std streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion SHELL",
		Short:     "Completion script for bash, zsh, fish or powershell",
		Example:   "  source <(mcp-tools completion bash)",
		ValidArgs: shells,
		Args:      argCount(1, 1, "a shell: "+listing(shells)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(std.out, true)
			case "zsh":
				return root.GenZshCompletion(std.out)
			case "fish":
				return root.GenFishCompletion(std.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(std.out)
			}
			return usagef("no completion for %q: must be %s%s", args[0], listing(shells), didYouMean("", args[0], shells))
		},
	}
}
